import { METRICS } from '#observe/metric-table.ts'
import { code, table } from './table.ts'
import type { Language } from './table.ts'

const WORDS = {
  en: {
    title: 'Metrics',
    intro: [
      'Made from `src/observe/metric-table.ts` by `npm run docs`. Where they are served and what to watch first:',
      '[operations.md](operations.md#health-and-metrics).',
      '',
      'Labels take their values from closed lists: routes as the contract spells them, error codes, names of',
      'jobs. No label holds an id. What a process counts begins at 0 when it starts; add up over processes.',
      'The alerts are examples: the numbers have to fit the installation.',
    ],
    head: ['Metric', 'Type', 'Labels', 'Meaning', 'Example of an alert'],
  },
  ru: {
    title: 'Метрики',
    intro: [
      'Страница получена из `src/observe/metric-table.ts` командой `npm run docs`. Где их взять и за чем следить в',
      'первую очередь: [operations.ru.md](operations.ru.md#проверки-и-метрики).',
      '',
      'Значения меток берутся из закрытых списков: маршруты в записи контракта, коды ошибок, имена заданий.',
      'Идентификаторов в метках нет. Счётчики процесса начинаются с 0 при его запуске; складывайте их по процессам.',
      'Правила оповещений — примеры: числа надо подобрать под установку.',
    ],
    head: ['Метрика', 'Тип', 'Метки', 'Смысл', 'Пример оповещения'],
  },
} as const

/** Every metric of the program with its meaning and an alert to begin with. */
export function metricsPage(language: Language): string {
  const { title, intro, head } = WORDS[language]
  const rows = Object.values(METRICS).map((row) => [
    code(row.name),
    row.type,
    row.labels.map(code).join(', '),
    row[language],
    code(row.alert),
  ])
  return `${[`# ${title}`, '', ...intro, '', table(head, rows)].join('\n')}\n`
}
