import { TOPICS } from '#observe/metric-table.ts'
import type { MetricRow } from '#observe/tables/row.ts'
import { code, table } from './table.ts'
import type { Language } from './table.ts'

const WORDS = {
  en: {
    title: 'Metrics',
    intro: [
      'Made from `src/observe/tables` by `npm run docs`. Where they are served and what to watch first:',
      '[operations.md](operations.md#health-and-metrics).',
      '',
      'Labels take their values from closed lists: routes as the contract spells them, error codes, names of',
      'jobs. No label holds an id. Counters are those of one process and begin at 0 when it starts; add them up.',
      'What is read from the database is the same from every process, so take `max`; it is absent while the',
      'database does not answer.',
      'The alerts are examples: the numbers have to fit the installation.',
    ],
    topics: {
      requests: 'Requests',
      access: 'Access',
      work: 'Claims, sessions, runs and jobs',
      journal: 'Journal',
      memory: 'Memory',
      content: 'Content of artifacts',
      process: 'Process and database connections',
    },
    head: ['Metric', 'Type', 'Labels', 'Meaning', 'Example of an alert'],
  },
  ru: {
    title: 'Метрики',
    intro: [
      'Страница получена из `src/observe/tables` командой `npm run docs`. Где их взять и за чем следить в',
      'первую очередь: [operations.ru.md](operations.ru.md#проверки-и-метрики).',
      '',
      'Значения меток берутся из закрытых списков: маршруты в записи контракта, коды ошибок, имена заданий.',
      'Идентификаторов в метках нет. Счётчики принадлежат одному процессу и начинаются с 0 при его запуске; складывайте их.',
      'То, что читается из базы, у всех процессов одно, поэтому берите `max`; пока база не отвечает, его нет.',
      'Правила оповещений — примеры: числа надо подобрать под установку.',
    ],
    topics: {
      requests: 'Запросы',
      access: 'Доступ',
      work: 'Claims, сессии, прогоны и задания',
      journal: 'Журнал',
      memory: 'Память',
      content: 'Содержимое артефактов',
      process: 'Процесс и соединения с базой',
    },
    head: ['Метрика', 'Тип', 'Метки', 'Смысл', 'Пример оповещения'],
  },
} as const

/** Every metric of the program with its meaning and an alert to begin with. */
export function metricsPage(language: Language): string {
  const { title, intro, head, topics } = WORDS[language]
  const parts = Object.entries(TOPICS).flatMap(([topic, rows]) => [
    '',
    `## ${topics[topic as keyof typeof TOPICS]}`,
    '',
    table(
      head,
      Object.values(rows).map((row) => cellsOf(row, language)),
    ),
  ])
  return `${[`# ${title}`, '', ...intro, ...parts].join('\n')}\n`
}

function cellsOf(row: MetricRow, language: Language): string[] {
  const { name, type, labels, alert } = row
  return [code(name), type, labels.map(code).join(', '), row[language], code(alert)]
}
