import { createHash } from 'node:crypto'
import { hashText } from './snapshot.ts'
import type { SnapshotEntity, SnapshotRelation, Unit } from './snapshot.ts'

/** One snapshot: everything that a source says under one scope. */
export interface Part {
  readonly scope: string
  readonly entities: readonly SnapshotEntity[]
  readonly relations: readonly SnapshotRelation[]
  /** Same content, same digest, whatever order it was read in. */
  readonly digest: string
  readonly bytes: number
  /** The latest time that a unit of the part names. */
  readonly at: number | undefined
}

export interface PartLimits {
  /** Entities and relations together. */
  readonly maxItems: number
  readonly maxBytes: number
}

/** Half of what the service accepts at once, so that one snapshot stays well within its deadline. */
export const PART_LIMITS: PartLimits = { maxItems: 10_000, maxBytes: 4 * 1024 * 1024 }

/** The next finer place of a unit: `undefined` when it cannot be divided further. */
export type Divide = (unit: Unit, depth: number) => string | undefined

interface Measured {
  readonly unit: Unit
  readonly json: string
  readonly items: number
}

/**
 * Lays units out over scopes so that each part keeps to the limits. A part that is too large is divided
 * by `divide` into `<scope>/<place>`; where a unit stands depends on the unit and on how full its
 * neighbours are, never on the order of reading, so an unchanged part keeps its scope and digest.
 * A single unit larger than the limits still becomes one part.
 */
export function layOut(
  scope: string,
  units: readonly Unit[],
  divide: Divide,
  limits: PartLimits = PART_LIMITS,
): Part[] {
  return divided({ scope, depth: 0 }, withoutTwins(units).map(measured), divide, limits)
}

/** Divides by the hash of the key: sixteen equal places at each depth. */
export const byHash: Divide = (unit, depth) => hashText(unit.entity.key)[depth]

function divided(
  place: { scope: string; depth: number },
  units: readonly Measured[],
  divide: Divide,
  limits: PartLimits,
): Part[] {
  const items = units.reduce((sum, unit) => sum + unit.items, 0)
  const bytes = units.reduce((sum, unit) => sum + Buffer.byteLength(unit.json), 0)
  const fits = units.length <= 1 || (items <= limits.maxItems && bytes <= limits.maxBytes)
  const groups = fits ? undefined : grouped(units, divide, place.depth)
  if (!groups) return [part(place.scope, units, bytes)]
  return [...groups].flatMap(([name, group]) =>
    divided({ scope: `${place.scope}/${name}`, depth: place.depth + 1 }, group, divide, limits),
  )
}

function grouped(
  units: readonly Measured[],
  divide: Divide,
  depth: number,
): [string, Measured[]][] | undefined {
  const groups = Map.groupBy(units, ({ unit }) => divide(unit, depth))
  const named: [string, Measured[]][] = []
  for (const [name, group] of groups) {
    if (name === undefined) return undefined
    named.push([name, group])
  }
  return named.toSorted(([a], [b]) => (a < b ? -1 : 1))
}

function part(scope: string, measuredUnits: readonly Measured[], bytes: number): Part {
  const sorted = measuredUnits.toSorted((a, b) =>
    a.unit.entity.key < b.unit.entity.key ? -1 : a.unit.entity.key > b.unit.entity.key ? 1 : 0,
  )
  const digest = createHash('sha256')
  for (const { json } of sorted) digest.update(json).update('\n')
  const times = sorted.flatMap(({ unit }) => (unit.at === undefined ? [] : [unit.at]))
  return {
    scope,
    entities: sorted.map(({ unit }) => unit.entity),
    relations: withoutTwinRelations(sorted.flatMap(({ unit }) => unit.relations)),
    digest: digest.digest('hex').slice(0, 32),
    bytes,
    at: times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b)),
  }
}

function measured(unit: Unit): Measured {
  return {
    unit,
    json: JSON.stringify([unit.entity, unit.relations]),
    items: 1 + unit.relations.length,
  }
}

/** A snapshot that names an entity twice would be refused whole; the first one stands. */
function withoutTwins(units: readonly Unit[]): Unit[] {
  const seen = new Map<string, Unit>()
  for (const unit of units) {
    const id = `${unit.entity.kind}\0${unit.entity.key}`
    if (!seen.has(id)) seen.set(id, unit)
  }
  return [...seen.values()]
}

function withoutTwinRelations(relations: readonly SnapshotRelation[]): SnapshotRelation[] {
  const seen = new Map<string, SnapshotRelation>()
  for (const relation of relations) {
    const { from, to } = relation
    const id = [relation.relation, from.kind, from.key, to.kind, to.key].join('\0')
    if (!seen.has(id)) seen.set(id, relation)
  }
  return [...seen.values()]
}
