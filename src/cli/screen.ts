import { styleText } from 'node:util'
import { isLively } from './io.ts'
import type { Io, Output } from './io.ts'
import { safeBlock, safeJson, safeLine } from './safe-text.ts'
import { tableLines } from './table.ts'

/**
 * The only way to the terminal. Whatever is printed is made safe here, so a command may put text of
 * others into a line without a thought; style is added here too, after that.
 */
export interface Screen {
  readonly json: boolean
  /** The answer of a command: with `--json` the whole value as one document, else what `show` prints. */
  result: (value: unknown, show: () => void) => void
  /** One of many answers: with `--json` one line each. */
  item: (value: unknown, text: string) => void
  line: (text: string) => void
  heading: (text: string) => void
  /** Names and values in two columns, without those that are null. */
  fields: (rows: readonly (readonly [string, string | number | null])[]) => void
  /** Text of several lines, as it is. */
  block: (text: string) => void
  /** With `none` said on stderr when there are no rows. */
  table: (headings: readonly string[], rows: readonly (readonly string[])[], none: string) => void
  /** For the person, not part of the answer: goes to stderr. */
  note: (text: string) => void
  warn: (text: string) => void
  fail: (text: string) => void
}

export function createScreen({ stdout, stderr, env }: Io, json: boolean): Screen {
  const out = (text: string) => stdout.write(`${text}\n`)
  const styled = (stream: Output, style: Parameters<typeof styleText>[0], text: string) =>
    isLively(stream, env) ? styleText(style, text, { validateStream: false }) : text
  const note = (text: string) => void stderr.write(`${safeLine(text)}\n`)
  return {
    json,
    result: (value, show) => (json ? void out(safeJson(value, 2)) : show()),
    item: (value, text) => void out(json ? safeJson(value) : safeLine(text)),
    line: (text) => void out(safeLine(text)),
    heading: (text) => void out(styled(stdout, 'bold', safeLine(text))),
    fields(rows) {
      const shown = rows.filter(([, value]) => value !== null)
      const width = shown.reduce((widest, [name]) => Math.max(widest, name.length), 0)
      for (const [name, value] of shown) out(safeLine(`${name.padEnd(width)}  ${value}`))
    },
    block: (text) => void out(safeBlock(text)),
    table(headings, rows, none) {
      if (rows.length === 0) {
        note(none)
        return
      }
      const width = stdout.isTTY === true && stdout.columns ? stdout.columns : undefined
      const [head = '', ...lines] = tableLines(headings, rows, width)
      out(styled(stdout, 'bold', head))
      for (const line of lines) out(line)
    },
    note,
    warn: (text) => void stderr.write(`${styled(stderr, 'yellow', safeLine(text))}\n`),
    fail: (text) => void stderr.write(`${styled(stderr, 'red', safeLine(text))}\n`),
  }
}
