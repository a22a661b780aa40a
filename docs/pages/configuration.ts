import { z } from 'zod'
import { VARIABLES } from '../../src/config.ts'
import { RUSSIAN_MEANINGS } from './configuration-ru.ts'
import { code, table } from './table.ts'
import type { Language } from './table.ts'

type Name = keyof typeof VARIABLES

const GROUPS: readonly [en: string, ru: string, match: (name: string) => boolean][] = [
  ['The program', 'Программа', (name) => name.startsWith('STRATA_')],
  [
    'Control plane',
    'Control plane',
    (name) => name.startsWith('CP_') && !name.startsWith('CP_CONTEXT_'),
  ],
  [
    'Memory as the control plane uses it, and delivery to it',
    'Память глазами control plane и доставка в неё',
    (name) => name.startsWith('CP_CONTEXT_'),
  ],
  ['Memory service', 'Сервис памяти', (name) => name.startsWith('CB_')],
  ['OpenTelemetry', 'OpenTelemetry', (name) => name.startsWith('OTEL_')],
]

const WORDS = {
  en: {
    title: 'Configuration',
    intro: [
      'Made from `src/config.ts` by `npm run docs`.',
      '',
      'The server program reads its settings from environment variables when it starts. An empty variable',
      'counts as unset. With a bad value the program says every problem at once and ends with exit code 2;',
      'values are not repeated, they may be secrets.',
    ],
    head: ['Variable', 'Default', 'Values', 'Meaning'],
    characters: 'characters',
    client: [
      '## Command line',
      '',
      'The server does not read these; `control-plane` does.',
      '',
      '- `CONTROL_PLANE_SERVER`: address of the control plane.',
      '- `CONTROL_PLANE_API_KEY`: key to call it with.',
      '- `CONTROL_PLANE_CONTEXT_BUDGET_CHARS`: largest prompt section of `context --prompt`, in characters (12000).',
      '- `NO_COLOR`: no colours.',
    ],
  },
  ru: {
    title: 'Настройки',
    intro: [
      'Страница получена из `src/config.ts` командой `npm run docs`.',
      '',
      'Серверная программа читает настройки из переменных окружения при запуске. Пустая переменная',
      'считается незаданной. При недопустимом значении программа называет сразу все ошибки и завершается',
      'с кодом 2; сами значения не повторяются: среди них могут быть секреты.',
    ],
    head: ['Переменная', 'По умолчанию', 'Значения', 'Смысл'],
    characters: 'символов',
    client: [
      '## Командная строка',
      '',
      'Эти переменные читает не сервер, а `control-plane`.',
      '',
      '- `CONTROL_PLANE_SERVER`: адрес control plane.',
      '- `CONTROL_PLANE_API_KEY`: ключ для обращения к нему.',
      '- `CONTROL_PLANE_CONTEXT_BUDGET_CHARS`: предел раздела prompt для `context --prompt`, в символах (12000).',
      '- `NO_COLOR`: без цвета.',
    ],
  },
} as const

/** Every variable of the server with its default, its values and its meaning. */
export function configurationPage(language: Language): string {
  const { title, intro, head, client } = WORDS[language]
  const names = Object.keys(VARIABLES) as Name[]
  const groups = GROUPS.flatMap(([en, ru, match]) => {
    const rows = names.filter(match).map((name) => rowOf(name, language))
    return [`## ${language === 'en' ? en : ru}`, '', table(head, rows), '']
  })
  return `${[`# ${title}`, '', ...intro, '', ...groups, ...client].join('\n')}\n`
}

function rowOf(name: Name, language: Language): string[] {
  const schema: z.ZodType = VARIABLES[name]
  const meaning = language === 'en' ? (schema.description ?? '') : RUSSIAN_MEANINGS[name]
  return [code(name), defaultOf(schema), valuesOf(schema, WORDS[language].characters), meaning]
}

function defaultOf(schema: z.ZodType): string {
  if (!(schema instanceof z.ZodDefault)) return ''
  return code(String(schema.def.defaultValue))
}

/** What a variable accepts, as far as it can be said in a few signs. */
function valuesOf(schema: z.ZodType, characters: string): string {
  const json = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const { enum: words, minimum, exclusiveMinimum, maximum, minLength, maxLength } = json
  if (words) return words.map((word) => code(String(word))).join(', ')
  const least = minimum ?? exclusiveMinimum
  if (least !== undefined && maximum !== undefined) {
    return `${exclusiveMinimum === undefined ? '' : '> '}${least} … ${maximum}`
  }
  const hasLength = minLength !== undefined && maxLength !== undefined
  return hasLength ? `${minLength} … ${maxLength} ${characters}` : ''
}
