import type { Config } from './config.ts'
import { jsonLog } from '#lib/log.ts'
import type { Log, LogFields } from '#lib/log.ts'
import { prettyLog } from '#lib/pretty-log.ts'

/** Where a log goes: standard output, or what stands for it. */
export interface LogOutput {
  write: (text: string) => unknown
  isTTY?: boolean
  /** False where the environment asks for none (`NO_COLOR`). */
  hasColors?: () => boolean
}

/** The log of this process: JSON lines, or for a person where the output is a terminal. */
export function openLog(
  { CP_LOG_LEVEL: least, CP_LOG_FORMAT: format }: Config,
  output: LogOutput,
  always: () => LogFields = () => ({}),
): Log {
  const write = (line: string) => void output.write(line)
  const isTerminal = output.isTTY === true
  if (format === 'json' || (format === 'auto' && !isTerminal)) {
    return jsonLog(write, clock, least, always)
  }
  return prettyLog(write, {
    now: clock,
    least,
    always,
    colors: isTerminal && output.hasColors?.() === true,
  })
}

function clock(): Date {
  return new Date()
}
