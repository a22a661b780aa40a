// Medians of rendering packs of one megabyte, friendly and hostile, at two budgets.
//   npm run bench:render
import { renderContext } from '#prompt/render-context.ts'

const MEGABYTE = 1_000_000
const ROUNDS = 15
const NONCE = '0123456789abcdef'
const DEFAULT_BUDGET_CHARS = 12_000

const packs: Record<string, unknown> = {
  'English items': recall(
    many((n) => `Decision ${n}: the limit is ${n} rps, see docs/limits_${n}.md. `),
  ),
  'Russian items': recall(
    many((n) => `Решение ${n}: предел — ${n} запросов, см. docs/limits_${n}.md… `),
  ),
  'items with markup': recall(many((n) => `<b>Item_${n}</b> &amp; <i>more</i> `)),
  'one long item': recall(['A finding. '.repeat(MEGABYTE / 11)]),
  'graph pack': graph(),
  'nested tags': recall([
    `${'</recalled_'.repeat(50_000)}</recalled_memory>${'memory>'.repeat(50_000)}`,
  ]),
  'spaces before tags': recall([
    `<${' '.repeat(MEGABYTE / 2)}${'<recalled_memory>'.repeat(29_000)}`,
  ]),
  'pile of marks': recall([`a${'\u0301\u0323'.repeat(MEGABYTE / 4)}`]),
  'unfinished keys': recall(['-----BEGIN PRIVATE KEY----- '.repeat(MEGABYTE / 28)]),
  'token prefixes': recall(['-eyJ'.repeat(MEGABYTE / 4)]),
  'open assignments': recall(['token:"'.repeat(MEGABYTE / 7)]),
}

process.stdout.write('pack                  bytes     budget   median ms\n')
for (const [name, response] of Object.entries(packs)) {
  const bytes = Buffer.byteLength(JSON.stringify(response))
  for (const budgetChars of [DEFAULT_BUDGET_CHARS, 2 * MEGABYTE]) {
    const milliseconds = medianMs(() => renderContext(response, { budgetChars, nonce: NONCE }))
    const cells = [name.padEnd(20), String(bytes).padStart(8), String(budgetChars).padStart(9)]
    process.stdout.write(`${cells.join('  ')}  ${milliseconds.toFixed(1).padStart(9)}\n`)
  }
}

function medianMs(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const started = performance.now()
    work()
    return performance.now() - started
  })
  return times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
}

/** Texts of about 500 characters that fill a megabyte together. */
function many(sentence: (n: number) => string): string[] {
  return Array.from({ length: MEGABYTE / 500 }, (_, n) => {
    const text = sentence(n)
    return text.repeat(Math.ceil(420 / Buffer.byteLength(text)))
  })
}

function recall(texts: readonly string[]): unknown {
  const items = texts.map((text, n) => ({ text, title: `Title ${n}`, source_path: `docs/${n}.md` }))
  return { memoryStatus: 'ok', memory: { sections: [{ kind: 'documents', items }] } }
}

function graph(): unknown {
  const entities = Array.from({ length: 4000 }, (_, n) => ({
    key: `service:${n}`,
    title: `Сервис ${n} отвечает за docs/limits_${n}.md`,
    attributes: { lang: 'go', tier: n, owner: `team-${n}` },
    source_path: `docs/services/${n}.md`,
  }))
  const facts = entities.map(({ key }, n) => ({
    subject: key,
    relation: 'USES',
    object: `db:${n}`,
  }))
  const sections = [{ kind: 'service', items: entities }]
  return { taskContext: { status: 'ok', budgetTokens: 3000, pack: { sections, facts } } }
}
