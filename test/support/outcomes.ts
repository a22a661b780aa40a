import type { AppError } from '#lib/errors.ts'

/** How often each came out of calls made at once: `ok`, or the code of the refusal. */
export async function outcomes(
  calls: readonly Promise<unknown>[],
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const result of await Promise.allSettled(calls)) {
    const outcome = result.status === 'fulfilled' ? 'ok' : (result.reason as AppError).code
    counts[outcome] = (counts[outcome] ?? 0) + 1
  }
  return counts
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}
