import type { Evidence } from './bonuses.ts'

export type ItemKind = 'observation' | 'chunk' | 'fact' | 'entity'

/** One piece of knowledge as the ranking and the pack see it, whatever table it comes from. */
export interface Item {
  /** Unique over namespaces; never leaves the process. */
  key: string
  namespace: string
  kind: ItemKind
  /** As shown: `obs-…`, `chunk:<n>`, `fact-…`, `node:<key>`. */
  id: string
  /** What it says; empty when it says nothing by itself (an observation of data only). */
  text: string
  title: string | null
  scopes: readonly string[]
  /** When it happened or became true. */
  at: Date | null
  /** Since when it is no longer true; null while it is. */
  closedAt: Date | null
  /** Pack id of what replaced it. */
  supersededBy: string | null
  /** Kind of the observation, type of the entity or document, predicate of the fact. */
  type: string
  /** Who said it: the actor of an observation. */
  author: string | null
  /** What it is about: subject of an observation, ends of a fact, key of an entity. */
  about: readonly string[]
  nodeKey: string | null
  chunkOrder: number | null
  sourcePath: string | null
  source: { system: string | null; stream: string | null; external_id: string | null } | null
  provenance: Record<string, unknown>
  fact: FactTriple | null
}

export interface FactTriple {
  subject: string
  predicate: string
  object: string
  validFrom: Date | null
  validTo: Date | null
  evidence: Evidence
  confidence: number
}

/** A candidate after ranking, best first in a list of them. */
export interface Ranked {
  item: Item
  score: number
  signals: Record<string, unknown>
}

/** Why a candidate is not in the answer; `of` names the item it yields to. */
export interface Dropped {
  id: string
  kind: ItemKind
  score: number
  reason: string
}
