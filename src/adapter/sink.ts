import type { Position } from '#events/cursor.ts'
import type { Observation } from './mapping.ts'

/** One delivery of observations to memory, for one tenant, in journal order. */
export interface Batch {
  tenantId: string
  observations: readonly Observation[]
  /** Where the journal stands after this batch; memory keeps the greatest. */
  position: Position
}

/** What memory said, in the terms that decide what happens to the cursor. */
export type SinkResult =
  | { kind: 'confirmed'; duplicates: number }
  /** Everything before `index` is stored; the item at `index` never will be. */
  | { kind: 'rejected'; index: number; reason: string; duplicates: number }
  /** The batch as a whole is refused for good, without saying which item is to blame. */
  | { kind: 'refused'; reason: string }
  /** This tenant's namespace is closed to us. */
  | { kind: 'forbidden'; reason: string }
  /** Our credential is not accepted at all. */
  | { kind: 'unauthorised'; reason: string }
  | { kind: 'transient'; reason: string; retryAfterSeconds?: number }

export type Sink = (batch: Batch, signal: AbortSignal) => Promise<SinkResult>
