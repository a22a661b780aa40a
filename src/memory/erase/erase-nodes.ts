import type { Sql } from '#db/sql.ts'
import type { ErasureMode } from '#contract/memory-deletion.ts'
import { nodeFields } from '../analysis/fields.ts'
import type { TextField } from '../analysis/terms-of.ts'
import { storedTerms } from '../store/terms.ts'
import type { Namespace } from '../store/write.ts'
import {
  deleteLinksOf,
  deleteNodes,
  selectAllVersions,
  selectDerivedKeys,
  selectUnlinked,
  updateVersions,
} from './derived.sql.ts'
import type { Share, Shares } from './share.ts'
import { withdraw } from './withdraw.ts'
import type { StoredVersion, Withdrawn } from './withdraw.ts'

export interface ErasedNodes {
  nodes: number
  changed: number
  links: number
  /** What was said, to find the words that nobody says any more. */
  fields: TextField[]
  /** Keys whose title is another now. */
  renamed: string[]
}

export interface NodeErasure {
  observationId: string
  /** When it was said. */
  at: string
  mode: ErasureMode
  shares: Shares
}

/**
 * Takes out of entities what an observation said about them. A version that then says nothing is emptied
 * (`redact`) or removed with its links (`purge`); it stays a placeholder where a fact still has it as an end.
 */
export async function eraseNodes(
  sql: Sql,
  namespace: Namespace,
  erasure: NodeErasure,
): Promise<ErasedNodes> {
  const { observationId, shares, mode } = erasure
  const derived = await selectDerivedKeys(sql, namespace.id, observationId)
  const keys = [...new Set([...shares.keys(), ...derived])]
  const versions = keys.length === 0 ? [] : await selectAllVersions(sql, namespace.id, keys)
  const byKey = Map.groupBy(versions, ({ key }) => key)
  const withdrawn = [...byKey].flatMap(([key, all]) =>
    withdraw(all, shares.get(key) ?? NOTHING, erasure),
  )
  const bare = withdrawn.filter(({ isBare }) => isBare)
  const gone = mode === 'purge' ? await removable(sql, namespace, bare, byKey) : new Set<string>()
  const removed = bare.filter(({ before }) => gone.has(before.key))
  const kept = withdrawn.filter((one) => !removed.includes(one))
  await updateKept(sql, namespace, kept, erasure)
  await deleteNodes(
    sql,
    namespace.id,
    removed.map(({ before }) => before.item),
  )
  for (const { before } of removed) forget(namespace, before)
  const links = gone.size === 0 ? [] : await deleteLinksOf(sql, namespace.id, [...gone])
  for (const { item, isOpen, termCount } of links) {
    namespace.changed('edge', item, isOpen ? -1 : 0, isOpen ? -termCount : 0)
  }
  return {
    nodes: bare.length,
    changed: withdrawn.length - bare.length,
    links: links.length,
    fields: withdrawn.flatMap(({ before }) => nodeFields(before)),
    renamed: [...new Set(withdrawn.filter(isRenamed).map(({ before }) => before.key))],
  }
}

const NOTHING: Share = { values: new Map(), aliases: new Set(), sourcePaths: new Set() }

function isRenamed({ before, after }: Withdrawn): boolean {
  return before.title !== after.title
}

/** Keys of which nothing would be left, neither a version nor a fact. */
async function removable(
  sql: Sql,
  { id }: Namespace,
  bare: readonly Withdrawn[],
  byKey: ReadonlyMap<string, readonly StoredVersion[]>,
): Promise<Set<string>> {
  const items = new Set(bare.map(({ before }) => before.item))
  const whole = [...new Set(bare.map(({ before }) => before.key))].filter((key) =>
    byKey.get(key)?.every(({ item, placeholder }) => items.has(item) || placeholder),
  )
  if (whole.length === 0) return new Set()
  return new Set(await selectUnlinked(sql, id, whole))
}

async function updateKept(
  sql: Sql,
  namespace: Namespace,
  kept: readonly Withdrawn[],
  { observationId, mode }: NodeErasure,
): Promise<void> {
  if (kept.length === 0) return
  const rows = kept.map(({ after, isBare }) => {
    const marked = isBare && mode === 'redact'
    const placeholder = after.placeholder || (isBare && !marked)
    const properties = marked ? { observation_id: observationId, redacted: true } : after.properties
    const marks = marked ? { observationId } : {}
    const row = { ...after, ...marks, properties, placeholder }
    return { ...row, ...storedTerms(namespace, placeholder || marked ? [] : nodeFields(row)) }
  })
  await updateVersions(sql, namespace.id, rows)
  for (const [index, { before }] of kept.entries()) {
    const delta = (rows[index]?.termCount ?? 0) - before.termCount
    namespace.changed('node', before.item, 0, isCurrent(before) ? delta : 0)
  }
}

function forget(namespace: Namespace, before: StoredVersion): void {
  const open = isCurrent(before)
  namespace.changed('node', before.item, open ? -1 : 0, open ? -before.termCount : 0)
}

function isCurrent({ validTo, isRetired }: StoredVersion): boolean {
  return validTo === null && !isRetired
}

/** Removes placeholders that stood for ends of facts which are gone. */
export async function eraseDangling(
  sql: Sql,
  namespace: Namespace,
  ends: readonly string[],
): Promise<number> {
  const keys = ends.length === 0 ? [] : await selectUnlinked(sql, namespace.id, ends)
  if (keys.length === 0) return 0
  const versions = await selectAllVersions(sql, namespace.id, keys)
  const dangling = versions.filter(({ placeholder }) => placeholder)
  await deleteNodes(
    sql,
    namespace.id,
    dangling.map(({ item }) => item),
  )
  for (const version of dangling) forget(namespace, version)
  return dangling.length
}
