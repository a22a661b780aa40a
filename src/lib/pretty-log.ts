import { dropInvisible } from './invisible.ts'
import { createLog } from './log.ts'
import type { Log, LogFields, LogLevel, LogLine } from './log.ts'

/** Ids that help a machine to join lines and are in the way of a person who reads along. */
const FOR_MACHINES = new Set(['correlationId', 'traceRunId', 'traceId', 'spanId', 'tenantId'])
const PLAIN_VALUE = /^[\w./:{}@+~-]+$/

const COLORS = { debug: '2', info: '36', warn: '33', error: '31' } as const satisfies Record<
  LogLevel,
  string
>

/**
 * The log for a person at a terminal: time, message, fields; the stack of an error below it. Nothing in it can
 * move the cursor or hide.
 */
export function prettyLog(
  write: (line: string) => void,
  options: { now: () => Date; least: LogLevel; colors: boolean; always?: () => LogFields },
): Log {
  return createLog((line) => write(render(line, options.colors)), options)
}

function render({ time, level, message, fields }: LogLine, colors: boolean): string {
  const paint = (style: string, text: string) =>
    colors ? `\u001b[${style}m${text}\u001b[0m` : text
  const { error, ...rest } = fields
  const shown = Object.entries(rest)
    .filter(([name, value]) => value !== null && value !== undefined && !FOR_MACHINES.has(name))
    .map(([name, value]) => `${name}=${valueOf(value)}`)
  const head = [
    paint('2', time.toTimeString().slice(0, 8)),
    paint(COLORS[level], level.padEnd(5)),
    dropInvisible(message),
    ...(shown.length > 0 ? [paint('2', shown.join(' '))] : []),
  ]
  const stack = typeof error === 'string' ? `${dropInvisible(error).replaceAll(/^/gm, '  ')}\n` : ''
  return `${head.join(' ')}\n${stack}`
}

function valueOf(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  if (typeof value !== 'string' || PLAIN_VALUE.test(text)) return dropInvisible(text)
  return JSON.stringify(dropInvisible(text))
}
