import type { z } from 'zod'
import { AppError } from '#lib/errors.ts'
import { TransportError } from '#client/client.ts'

/** What a tool needs of the one who calls it. `B` is what its tools are made over, such as a client of an API. */
export interface Tool<B> {
  name: string
  title: string
  description: string
  input: z.ZodObject
  /** Whether it only reads; what writes may be asked about by the harness. */
  readOnly: boolean
  /** Answers the text that the model reads. Throws what the API refused. */
  run: (backend: B, input: unknown, signal: AbortSignal) => Promise<string>
}

/** Ties what a tool reads to the input it declares. */
export function tool<B, I extends z.ZodObject>(
  definition: Omit<Tool<B>, 'input' | 'run'> & {
    input: I
    run: (backend: B, input: z.output<I>, signal: AbortSignal) => Promise<string>
  },
): Tool<B> {
  const { run, input, ...rest } = definition
  return {
    ...rest,
    input,
    run: (backend, given, signal) => run(backend, input.parse(given), signal),
  }
}

export interface ToolFailure {
  error: string
  message: string
  details: Record<string, unknown>
  /** What to do about it; absent where there is nothing to add. */
  hint?: string
}

/** What a model is told when a call fails; nothing of what we did not foresee. */
export function failureOf(error: unknown, hints: Readonly<Record<string, string>>): ToolFailure {
  if (error instanceof AppError) {
    const { code, message, details } = error
    const hint = hints[code]
    return { error: code, message, details: { ...details }, ...(hint !== undefined && { hint }) }
  }
  if (error instanceof TransportError) {
    const { message, status } = error
    return {
      error: 'unreachable',
      message,
      details: status === undefined ? {} : { status },
      hint: 'Nothing is known about what became of the call. Try again later.',
    }
  }
  return { error: 'internal_error', message: 'Something went wrong on our side', details: {} }
}
