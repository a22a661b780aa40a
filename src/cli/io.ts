/** A stream that may be a terminal. */
export type Output = NodeJS.WritableStream & { isTTY?: boolean; columns?: number }
export type Input = NodeJS.ReadableStream & { isTTY?: boolean }

/** What a command takes from the machine: all of it comes in here, nothing is read elsewhere. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  readonly stdin: Input
  readonly stdout: Output
  readonly stderr: Output
  /** Aborted when the person interrupts. */
  readonly signal: AbortSignal
}

/** True where colours and moving lines are welcome: a terminal, and nobody said otherwise. */
export function isLively(stream: Output, env: Io['env']): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}
