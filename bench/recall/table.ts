import type { Judged } from './measure.ts'
import { estimate } from './metrics.ts'
import type { Metrics } from './metrics.ts'

/** A line of the table: one number that a set is judged by. */
export interface Line {
  set: string
  /** Only questions of this category; all of them when absent. */
  category?: string
  level: 'items' | 'sessions'
  metric: keyof Metrics
  title: string
}

/** The numbers that are quoted, by the name of the set up to its first hyphen but for Russian questions. */
export const LINES: readonly Line[] = [
  { set: 'locomo', level: 'items', metric: 'ndcg10', title: 'LoCoMo, turns, nDCG@10' },
  { set: 'locomo', level: 'items', metric: 'recall10', title: 'LoCoMo, turns, recall@10' },
  { set: 'locomo', level: 'sessions', metric: 'recall10', title: 'LoCoMo, sessions, recall@10' },
  {
    set: 'locomo-ru',
    level: 'items',
    metric: 'any10',
    title: 'LoCoMo, Russian questions, any@10',
  },
  ...['en->en', 'ru->ru', 'ru->en', 'en->ru'].map((category): Line => ({
    set: 'xquad',
    category,
    level: 'items',
    metric: 'mrr10',
    title: `XQuAD ${category}, MRR@10`,
  })),
  { set: 'cosqa', level: 'items', metric: 'mrr10', title: 'CoSQA, MRR@10' },
]

/** Percentages with their 95 % intervals as a Markdown table; sets that were not asked have no line. */
export function tableOf(judged: ReadonlyMap<string, readonly Judged[]>): string {
  const rows = LINES.flatMap(({ set, category, level, metric, title }) => {
    const values = (judged.get(set) ?? [])
      .filter((one) => category === undefined || one.category === category)
      .flatMap((one) => one[level]?.[metric] ?? [])
    if (values.length === 0) return []
    const { mean, low, high } = estimate(values)
    const interval = `${percent(low)} – ${percent(high)}`
    return [
      `| ${title.padEnd(34)} | ${String(values.length).padStart(9)} | ${percent(mean)} | ${interval} |`,
    ]
  })
  return [
    `| ${'Set and metric'.padEnd(34)} | Questions |    % | 95 % interval |`,
    `| ${'-'.repeat(34)} | --------: | ---: | ------------: |`,
    ...rows,
  ].join('\n')
}

function percent(share: number): string {
  return (100 * share).toFixed(1).padStart(4)
}
