import { createHash } from 'node:crypto'

export interface EntityRef {
  readonly kind: string
  readonly key: string
}

export interface Provenance {
  readonly repo?: string
  readonly sha?: string
  readonly path?: string
}

export type AttributeValue = string | number | boolean | readonly string[]

export interface SnapshotEntity extends EntityRef {
  readonly title: string
  readonly attributes: Readonly<Record<string, AttributeValue>>
  readonly aliases?: readonly string[]
  readonly provenance?: Provenance
  /** What a reader is told as the source. */
  readonly source_path?: string
}

export interface SnapshotRelation {
  readonly relation: string
  readonly from: EntityRef
  readonly to: EntityRef
  readonly attributes?: Readonly<Record<string, AttributeValue>>
}

/** What is published together or not at all: one entity with the relations that its record states. */
export interface Unit {
  readonly entity: SnapshotEntity
  readonly relations: readonly SnapshotRelation[]
  /** Seconds since 1970 from which the unit holds; undefined when the source does not say. */
  readonly at: number | undefined
}

const MAX_KEY_LENGTH = 250

/**
 * A key that other systems can hold: at most 250 characters. A longer one is cut and ends in the hash of
 * the whole, so that different names stay different.
 */
export function boundedKey(key: string): string {
  if (key.length <= MAX_KEY_LENGTH) return key
  return `${key.slice(0, MAX_KEY_LENGTH - 34).toWellFormed()}~${hashText(key).slice(0, 32)}`
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
