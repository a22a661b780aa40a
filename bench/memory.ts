// What memory costs: recording and being found at once, asking alone and together, growth, and what an index takes.
//   npm run bench:memory -- [--quick|--full] [--json FILE] [record] [context] [growth]
// Without a flag it ends in about five minutes on two idle cores; --full has the sizes of the targets and takes
// the better part of an hour.
import { createReport } from './kit/report.ts'
import { describeSetting } from './kit/machine.ts'
import { startBenchServer } from './kit/server.ts'
import { readMemoryArgs } from './memory/args.ts'
import { context } from './memory/context.ts'
import { createCorpus } from './memory/corpus.ts'
import { growth } from './memory/growth.ts'
import { memoryDatabase } from './memory/databases.ts'
import { fillForeign } from './memory/foreign.ts'
import { record } from './memory/record.ts'

const { sizes, wanted, args } = readMemoryArgs()
await using server = await startBenchServer({ anywhere: args.quick })
const report = createReport(args, await describeSetting(server.admin))
const bench = { server, report, sizes, corpus: createCorpus(1) }
if (wanted('record') || wanted('context') || wanted('growth')) {
  await using database = await memoryDatabase(server, 'bench_memory')
  await fillForeign(database.admin, sizes.foreign, (made) =>
    report.progress(`${made} foreign rows`),
  )
  const own = { ...bench, database }
  await record(own)
  if (wanted('context')) await context(own)
  if (wanted('growth')) await growth(own)
}
report.finish()
