import { GLOBAL_OPTIONS } from './command.ts'
import type { Command, OptionSpecs } from './command.ts'

export const PROGRAM = 'control-plane'

const ENVIRONMENT = `Server: --server, else CONTROL_PLANE_SERVER, else .control-plane/config.json of the repository,
else http://127.0.0.1:8000. Key: CONTROL_PLANE_API_KEY, else what "login" stored for this server,
else, for that default server, admin.key in the data folder here (STRATA_DATA, ./.strata).
Colours appear on a terminal only, and never with NO_COLOR.

Exit codes: 0 done, 1 the server refused or did not answer, 2 wrong usage or configuration,
130 interrupted.`

/** Help of the whole program, or of the commands whose names begin with one word. */
export function overview(commands: readonly Command[], group?: string): string {
  const shown =
    group === undefined ? commands : commands.filter(({ name }) => name.split(' ')[0] === group)
  return [
    `Usage: ${PROGRAM} [--server <url>] <command> [options]`,
    '',
    ...columns(shown.map((command) => [signature(command), command.summary])),
    '',
    ...(group === undefined ? [...optionLines(GLOBAL_OPTIONS), '', ENVIRONMENT, ''] : []),
    `"${PROGRAM} <command> --help" tells more.`,
  ].join('\n')
}

/** Help of one command. */
export function commandHelp(command: Command): string {
  return [
    usageLine(command),
    '',
    command.summary,
    ...(command.details.length === 0 ? [] : ['', ...command.details.flatMap(wrapped)]),
    '',
    'Options:',
    ...optionLines({ ...command.options, ...GLOBAL_OPTIONS }),
  ].join('\n')
}

const MAX_COLUMNS = 100

function wrapped(line: string): string[] {
  const lines: string[] = []
  for (const word of line.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < MAX_COLUMNS)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

export function usageLine(command: Command): string {
  return `Usage: ${PROGRAM} ${signature(command)} [options]`
}

function signature({ name, args }: Command): string {
  return args === '' ? name : `${name} ${args}`
}

function optionLines(options: OptionSpecs): string[] {
  return columns(
    Object.entries(options).map(([name, { value, repeat, summary }]) => [
      value === undefined ? `--${name}` : `--${name} <${value}>`,
      repeat ? `${summary} (may be repeated)` : summary,
    ]),
  )
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = rows.reduce((widest, [left]) => Math.max(widest, left.length), 0)
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
