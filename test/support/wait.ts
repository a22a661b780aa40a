import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Resolves as soon as `condition` holds, asking every 20 ms; fails the test when it does not within
 * `seconds`. For what happens at a time of its own: another process, a journal reader, a lease.
 */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  seconds = 10,
): Promise<void> {
  const end = Date.now() + seconds * 1_000
  while (!(await condition())) {
    if (Date.now() > end) assert.fail(`It did not become true within ${seconds} seconds`)
    await delay(20)
  }
}
