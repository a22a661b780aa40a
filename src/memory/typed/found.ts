import type { Evidence } from '../recall/bonuses.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { EntityState, StepRow } from './state.sql.ts'

/** An entity of the answer. */
export interface FoundEntity {
  /** Unique in the answer. */
  id: string
  namespace: NamespaceRow
  state: EntityState
  /** The weakest on the way to it. */
  evidence: Evidence
  anchor: boolean
}

/** A fact of the answer with the entities at its ends. */
export interface FoundFact {
  row: StepRow
  namespace: NamespaceRow
  subject: EntityState
  object: EntityState
}

/** What a traversal has gathered so far. */
export interface Findings {
  entities: Map<string, FoundEntity>
  facts: Map<string, FoundFact>
}

export function entityIdOf(namespaceId: string, { kind, key }: { kind: string; key: string }) {
  return `${namespaceId}\n${kind}\n${key}`
}

const STRENGTH: Readonly<Record<Evidence, number>> = {
  asserted: 3,
  extracted: 2,
  inferred: 1,
  derived: 1,
}

/** What a conclusion from both is worth: no more than the weaker. */
export function weaker(a: Evidence, b: Evidence): Evidence {
  return STRENGTH[b] < STRENGTH[a] ? b : a
}
