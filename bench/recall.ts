// How well memory finds what answers a question, on public sets with marked answers, through its public API.
//   npm run bench:recall -- --data folder/with/sets        every *.json set of the folder
//   npm run bench:recall -- --data folder --sets locomo_dev.json,locomo_ru_dev.json
// A set is {name, group_field?, corpora: {<corpus>: {docs: [{id, text, title?, caption?, speaker?, date?, session?}]}},
// queries: [{id, corpus, text, category, gold: [doc ids]}]}; corpora_from names a file to take the corpora from.
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startAll } from '../demo/strata.ts'
import { measure, storeAll } from './recall/measure.ts'
import type { Judged } from './recall/measure.ts'
import { readSet } from './recall/set.ts'
import { tableOf } from './recall/table.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: process.env['BENCH_DATA'] ?? '' },
    sets: { type: 'string' },
  },
})
if (values.data === '') {
  process.stderr.write('Cannot measure: --data must name the folder of the sets\n')
  process.exit(2)
}
const names = values.sets?.split(',') ?? (await readdir(values.data)).toSorted()
const sets = await Promise.all(
  names.filter((name) => name.endsWith('.json')).map((name) => readSet(join(values.data, name))),
)

const folder = await mkdtemp(join(tmpdir(), 'bench-recall-'))
try {
  await using strata = await startAll(join(folder, 'data'))
  const stored = await storeAll(strata.memory, sets)
  const judged = new Map<string, Judged[]>()
  for (const set of sets) {
    const started = performance.now()
    judged.set(kindOf(set.name), await measure(strata.memory, set, stored))
    const seconds = ((performance.now() - started) / 1000).toFixed(1)
    process.stderr.write(`${set.name}: ${set.questions.length} questions in ${seconds} s\n`)
  }
  process.stdout.write(`${machine()}\n\n${tableOf(judged)}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}

/** `xquad-dev` is a part of `xquad`. */
function kindOf(name: string): string {
  return name.replace(/-(?:dev|test|kept|apart|all)$/u, '')
}

function machine(): string {
  const date = new Date().toISOString().slice(0, 10)
  const model = cpus()[0]?.model ?? 'unknown processor'
  return `${date}, ${availableParallelism()} cores of ${model}, Node ${process.version}, no model configured`
}
