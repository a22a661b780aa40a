/** The name under which a webhook has its place in the journal. */
export function consumerName(webhookId: string): string {
  return `${CONSUMER_PREFIX}${webhookId}`
}

export const CONSUMER_PREFIX = 'webhook:'

/** After so many events in a row were given up, the receiver is taken for gone. */
export const MAX_DEAD_IN_A_ROW = 5
/** With so many events that nobody decided about, no more are given up. */
export const MAX_DEAD_LETTERS = 1000
/** How many attempts are remembered. */
export const MAX_DELIVERIES = 200

export interface Backoff {
  baseSeconds: number
  maxSeconds: number
}

/**
 * Seconds before the next attempt after so many failures in a row: min(base * 2^(failures - 1), max) times
 * 0.5 to 1, drawn by `random` from 0 to 1; or as long as the receiver asks, at most max.
 */
export function retryDelay(
  { baseSeconds, maxSeconds }: Backoff,
  failures: number,
  { random, retryAfterSeconds }: { random: number; retryAfterSeconds: number | null },
): number {
  const wait = Math.min(baseSeconds * 2 ** Math.min(failures - 1, 30), maxSeconds)
  return Math.max(wait * (0.5 + random / 2), Math.min(retryAfterSeconds ?? 0, maxSeconds))
}
