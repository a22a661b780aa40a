import { z } from 'zod'
import { WHITE_LIST } from '#adapter/white-list.ts'
import { EVENTS } from '#contract/events.ts'
import type { EventType } from '#contract/events.ts'
import { MEANINGS } from './events-meanings.ts'
import { code, table } from './table.ts'
import type { Language } from './table.ts'

const WORDS = {
  en: {
    title: 'Events',
    intro: [
      'Made from `src/contract/events.ts` by `npm run docs`.',
      '',
      'The journal holds one event for every change. A type keeps its meaning for ever and its fields are only',
      'added to; readers must accept fields and types that they do not know. How the journal is read:',
      '[journal.md](journal.md).',
      '',
      'A field marked `?` may be absent, one marked `| null` may be empty. "To memory" lists the fields that the',
      'context adapter passes on; nothing else leaves, and an event without an entry there is not delivered.',
      'The text of `observation.recorded` is kept beside the journal and delivered with it.',
    ],
    head: ['Event', 'When', 'Payload', 'To memory'],
  },
  ru: {
    title: 'События',
    intro: [
      'Страница получена из `src/contract/events.ts` командой `npm run docs`.',
      '',
      'На каждое изменение в журнале есть событие. Смысл типа не меняется никогда, поля только добавляются;',
      'читатель обязан принимать незнакомые поля и типы. Как читать журнал: [journal.ru.md](journal.ru.md).',
      '',
      'Поле с `?` может отсутствовать, поле с `| null` может быть пустым. «В память» перечисляет поля, которые',
      'передаёт context-adapter; больше ничего не уходит, а событие без записи там не доставляется вовсе.',
      'Текст `observation.recorded` хранится рядом с журналом и доставляется вместе с событием.',
    ],
    head: ['Событие', 'Когда', 'Поля', 'В память'],
  },
} as const

/** Every event of the journal, its fields, and which of them reach memory. */
export function eventsPage(language: Language): string {
  const { title, intro, head } = WORDS[language]
  const rows = (Object.keys(EVENTS) as EventType[]).map((type) => [
    code(type),
    MEANINGS[type][language],
    fieldsOf(EVENTS[type]),
    (WHITE_LIST[type] ?? []).map(code).join(', '),
  ])
  return `${[`# ${title}`, '', ...intro, '', table(head, rows)].join('\n')}\n`
}

interface Shape {
  type?: string | string[]
  anyOf?: Shape[]
  enum?: unknown[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
  format?: string
}

function fieldsOf(schema: z.ZodType): string {
  const { properties = {}, required = [] } = z.toJSONSchema(schema) as Shape
  return Object.entries(properties)
    .map(([name, shape]) => code(`${name}${required.includes(name) ? '' : '?'}: ${typeOf(shape)}`))
    .join(', ')
}

/** A type in the words that a reader of JSON knows. */
function typeOf(shape: Shape): string {
  if (shape.anyOf) return shape.anyOf.map(typeOf).join(' | ')
  if (shape.enum) return shape.enum.map((word) => JSON.stringify(word)).join(' | ')
  if (shape.type === 'array') return `${typeOf(shape.items ?? {})}[]`
  if (shape.format === 'uuid') return 'id'
  return [shape.type ?? 'any'].flat().join(' | ')
}
