/**
 * Why a command cannot run as it was called or as this machine is set up, as one sentence for the person
 * at the keyboard. Exit code 2. `hint` is what to do about it.
 */
export class CliError extends Error {
  override name = 'CliError'
  readonly hint: string | undefined

  constructor(message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.hint = options.hint
  }
}

/** The person stopped it where the program itself reads the keyboard. Exit code 130. */
export class Interrupted extends Error {
  override name = 'Interrupted'
}
