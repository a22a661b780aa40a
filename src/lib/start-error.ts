/**
 * Why the program cannot start, as one sentence for the person at the keyboard: what is wrong and what to
 * do about it, without secrets. The entry point prints the message alone, without a stack, and exits with 2.
 */
export class StartError extends Error {
  override name = 'StartError'
}

/** What an unknown thrown value says about itself, for use inside a sentence. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') {
    return error.errors.map(reason).join('; ')
  }
  return error.message
}
