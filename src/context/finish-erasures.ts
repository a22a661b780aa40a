import type { Database } from '#db/sql.ts'
import { askToErase } from './ask-to-erase.ts'
import type { ErasingMemory } from './ask-to-erase.ts'
import { confirmErasure, noteFailure, takeDueErasures } from './erasure.sql.ts'

const BATCH = 50

/**
 * Tells memory about erasures that it has not confirmed: those whose request died, or came while memory did
 * not answer. Any number of processes may do it at once. Answers how many were confirmed.
 */
export async function finishErasures(
  db: Database,
  memory: ErasingMemory,
  signal: AbortSignal,
): Promise<number> {
  let confirmed = 0
  for (const row of await takeDueErasures(db, BATCH)) {
    if (signal.aborted) break
    const { receipt, failure } = await askToErase(memory, row, { signal })
    if (receipt) {
      await confirmErasure(db, row, receipt)
      confirmed += 1
    } else await noteFailure(db, row, failure)
  }
  return confirmed
}
