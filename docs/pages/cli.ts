import { COMMANDS } from '#cli/commands.ts'
import { CLI_WORDS, RUSSIAN_SUMMARIES } from './cli-words.ts'
import { code, table } from './table.ts'
import type { Language } from './table.ts'

/** The command line: what it does, how it finds server and key, and every command. */
export function cliPage(language: Language): string {
  const { title, before, head, after, exit } = CLI_WORDS[language]
  const rows = COMMANDS.map(({ name, args, summary }) => [
    code(args === '' ? name : `${name} ${args}`),
    language === 'en' ? summary : russian(name),
  ])
  const exits = [`## ${exit.title}`, '', table(exit.head, exit.rows)]
  return `${[`# ${title}`, '', ...before, '', table(head, rows), '', ...after, ...exits].join('\n')}\n`
}

function russian(name: string): string {
  const summary = RUSSIAN_SUMMARIES[name]
  if (summary !== undefined) return summary
  throw new Error(`Cannot write the page of the command line: no Russian for "${name}"`)
}
