import { termLanes } from '../analysis/terms-of.ts'
import { GONE, REPLACED, UNSCOPED, bytesOf, createColumns, withRoom } from './columns.ts'
import type { Columns } from './columns.ts'
import { createGroups } from './groups.ts'
import type { Groups } from './groups.ts'
import { createPostings } from './postings.ts'
import type { Bulk, Postings } from './postings.ts'
import { createItemSlots } from './item-slots.ts'
import type { ItemSlots } from './item-slots.ts'
import { createRegistry } from './registry.ts'
import type { Registry } from './registry.ts'
import { decodedArray } from './array-wire.ts'
import { createScratch } from './scratch.ts'
import type { Scratch } from './scratch.ts'
import { createSights } from './sights.ts'
import type { Sights } from './sights.ts'
import { createSpelling } from './spelling.ts'
import type { Spelling } from './spelling.ts'
import { createTallies } from './tallies.ts'
import type { Tallies } from './tallies.ts'
import { createTermTable } from './term-table.ts'
import type { TermArrays, TermTable } from './term-table.ts'

export const KINDS = ['observation', 'chunk', 'entity', 'fact'] as const
export const SHAPES = ['short', 'document', 'code'] as const

/** One searchable item as the store has it; null moments are open ends. */
export interface IndexRow {
  item: string
  kind: (typeof KINDS)[number]
  shape: (typeof SHAPES)[number]
  grp: string | null
  author: string | null
  /** Place of a chunk in its document, 0 for everything else. */
  place: number
  words: number
  startsAt: number
  validTo: number | null
  ingestedAt: number
  closedAt: number | null
  retiredAt: number | null
  replaced: boolean
  scopes: string[]
  audience: string[]
  /** Binary arrays of the stored terms and their frequencies. */
  terms: Buffer
  tfs: Buffer
}

/**
 * Everything a search by words needs of one namespace, in flat arrays by slot. An item has one slot; when
 * its text changes it gets another and the old one is gone.
 */
export interface NamespaceIndex {
  readonly namespaceId: string
  /** The version of the namespace that this is the index of. */
  version: number
  /** When that version was made, as the log of changes says. */
  writtenAt: string
  /** Whether changes are being applied piece by piece: a search has to wait. */
  isChanging: boolean
  readonly columns: Columns
  readonly slots: number
  readonly terms: TermTable
  readonly postings: Postings
  readonly groups: Groups
  readonly groupNames: Registry
  readonly authors: Registry
  readonly audiences: Registry
  /** How much there is that holds now, for each audience. */
  readonly tallies: Tallies
  readonly spelling: Spelling
  /** What readers saw of it last. */
  readonly sights: Sights
  readonly scratch: Scratch
  /** Slots that stand for nothing any more. */
  readonly gone: number
  readonly bytes: number
  /** Takes an item as it now is. */
  put: (row: IndexRow) => void
  /** Takes a word that items of the namespace hold. */
  learn: (word: string) => void
  /** Forgets a word that no item holds any more, by the hash of its term. */
  forget: (hash: bigint) => void
  /** Forgets an item that the store no longer shows. */
  remove: (item: number) => void
  /** Makes an empty index what was kept of one; yields now and then. */
  restore: (kept: KeptIndex) => Generator<undefined>
}

/** What is enough to make an index again, but for the words of its namespace. */
export interface KeptIndex {
  version: number
  writtenAt: string
  slots: number
  gone: number
  columns: Columns
  terms: TermArrays & { size: number }
  bulk: Bulk
  groupNames: readonly string[]
  authors: readonly string[]
  audiences: readonly string[]
}

const FIRST_CAPACITY = 1_024
const NONE = -1

/** A scope is kept as a term of its own, so that one structure finds both. */
export function scopeLanes(namespaceId: string, scope: string): [number, number] {
  return termLanes(namespaceId, `\n${scope}`)
}

/** The parts that an index grows together; `columns` is exchanged when it has no room left. */
type Growing = {
  -readonly [
    P in Exclude<keyof NamespaceIndex, 'put' | 'learn' | 'forget' | 'remove' | 'restore' | 'bytes'>
  ]: NamespaceIndex[P]
} & { slotOf: ItemSlots }

export function createNamespaceIndex(namespaceId: string): NamespaceIndex {
  const parts: Growing = {
    namespaceId,
    version: 0,
    writtenAt: '',
    isChanging: false,
    columns: createColumns(FIRST_CAPACITY),
    slots: 0,
    gone: 0,
    slotOf: createItemSlots(),
    terms: createTermTable(),
    postings: createPostings(),
    groups: createGroups(),
    groupNames: createRegistry(),
    authors: createRegistry(),
    audiences: createRegistry(),
    tallies: createTallies(),
    spelling: createSpelling(),
    sights: createSights(),
    scratch: createScratch(),
  }
  return Object.defineProperty(
    Object.assign(parts, {
      put: (row: IndexRow) => put(parts, row),
      learn: (word: string) => {
        const { terms, spelling } = parts
        spelling.learn(word, terms.add(...termLanes(namespaceId, word)))
      },
      forget: (hash: bigint) => {
        const { terms, spelling } = parts
        const low = Number(BigInt.asIntN(32, hash))
        spelling.forget(terms.find(Number(BigInt.asIntN(32, hash >> 32n)), low))
      },
      remove: (item: number) => remove(parts, item),
      restore: (kept: KeptIndex) => restore(parts, kept),
      bytes: 0,
    }),
    'bytes',
    { get: () => bytesTaken(parts) },
  )
}

function put(parts: Growing, row: IndexRow): void {
  const slot = slotFor(parts, row)
  count(parts, slot, -1)
  const { columns, authors, audiences } = parts
  columns.kind[slot] = KINDS.indexOf(row.kind)
  columns.shape[slot] = SHAPES.indexOf(row.shape)
  columns.flags[slot] = (row.replaced ? REPLACED : 0) | (row.scopes.length === 0 ? UNSCOPED : 0)
  columns.length[slot] = row.words
  columns.validTo[slot] = row.validTo ?? Infinity
  columns.ingestedAt[slot] = row.ingestedAt
  columns.closedAt[slot] = row.closedAt ?? Infinity
  columns.retiredAt[slot] = row.retiredAt ?? Infinity
  columns.author[slot] = row.author === null ? NONE : authors.number(row.author)
  columns.audience[slot] = audiences.number(row.audience.toSorted().join('\n'))
  count(parts, slot, 1)
  parts.sights.changed(slot)
}

function remove(parts: Growing, item: number): void {
  const slot = parts.slotOf.get(item)
  if (slot === NONE) return
  parts.slotOf.delete(item)
  count(parts, slot, -1)
  parts.columns.flags[slot] = GONE
  parts.gone += 1
  parts.sights.changed(slot)
}

/** The slot of an item: the one it has, or a new one when it is new or says something else now. */
function slotFor(parts: Growing, row: IndexRow): number {
  const item = Number(row.item)
  const termSum = sumOf(row)
  const known = parts.slotOf.get(item)
  if (known !== NONE && parts.columns.termSum[known] === termSum) return known
  if (known !== NONE) remove(parts, item)
  const slot = parts.slots++
  parts.columns = withRoom(parts.columns, slot + 1)
  parts.slotOf.set(item, slot)
  const { columns, groups, groupNames } = parts
  columns.flags[slot] = GONE
  columns.item[slot] = item
  columns.termSum[slot] = termSum
  columns.startsAt[slot] = row.startsAt
  columns.place[slot] = row.place
  const group = row.grp === null ? NONE : groupNames.number(`${row.kind} ${row.grp}`)
  columns.group[slot] = group
  if (group !== NONE) groups.add(group, slot)
  addTerms(parts, slot, row)
  return slot
}

function addTerms({ namespaceId, terms, postings }: Growing, slot: number, row: IndexRow): void {
  const hashes = decodedArray(row.terms)
  const tfs = decodedArray(row.tfs)
  for (let i = 0; i < hashes.length; i++) {
    postings.append(terms.add(hashes.high(i), hashes.low(i)), slot, tfs.low(i))
  }
  for (const scope of new Set(row.scopes)) {
    postings.append(terms.add(...scopeLanes(namespaceId, scope)), slot, 1)
  }
}

function* restore(parts: Growing, kept: KeptIndex): Generator<undefined> {
  const { version, writtenAt, slots, gone, columns } = kept
  Object.assign(parts, { version, writtenAt, slots, gone, columns })
  parts.terms = createTermTable(kept.terms)
  parts.postings = createPostings(kept.bulk)
  parts.groupNames = createRegistry(kept.groupNames)
  parts.authors = createRegistry(kept.authors)
  parts.audiences = createRegistry(kept.audiences)
  for (let slot = 0; slot < slots; slot++) {
    const group = columns.group[slot] ?? NONE
    if (group !== NONE) parts.groups.add(group, slot)
    if (((columns.flags[slot] ?? GONE) & GONE) === 0)
      parts.slotOf.set(columns.item[slot] ?? 0, slot)
    count(parts, slot, 1)
    if (slot % SLOTS_A_STEP === 0) yield
  }
}

const SLOTS_A_STEP = 1_024

/** Adds a slot that holds now to what its audience sees, or takes it away again. */
function count({ columns, tallies }: Growing, slot: number, sign: 1 | -1): void {
  const { flags, validTo, retiredAt, audience, kind, length } = columns
  if (((flags[slot] ?? GONE) & GONE) !== 0) return
  if (validTo[slot] !== Infinity || retiredAt[slot] !== Infinity) return
  const isText = kind[slot] === KINDS.indexOf('chunk')
  tallies.add(audience[slot] ?? 0, isText, sign, sign * (length[slot] ?? 0))
}

function bytesTaken(parts: Growing): number {
  const { columns, terms, postings, slotOf, slots, groupNames, audiences, authors, spelling } =
    parts
  const { sights, scratch } = parts
  const names = groupNames.names.length + audiences.names.length + authors.names.length
  const lists = slots * BYTES_A_MEMBER + names * BYTES_A_NAME
  const arrays = bytesOf(columns) + terms.bytes + postings.bytes + slotOf.bytes
  return arrays + sights.bytes + scratch.bytes + spelling.bytes + lists
}

/** Measured with Node 24, roundly. */
const BYTES_A_MEMBER = 12
const BYTES_A_NAME = 250

/** An item as a search takes it up, its words aside. */
export function described({ columns, groupNames, authors }: NamespaceIndex, slot: number) {
  return {
    item: String(columns.item[slot] ?? 0),
    kind: KINDS[columns.kind[slot] ?? 0] ?? 'observation',
    group: groupNames.names[columns.group[slot] ?? NONE] ?? null,
    author: authors.names[columns.author[slot] ?? NONE] ?? null,
    at: new Date((columns.startsAt[slot] ?? 0) / 1_000),
    shape: SHAPES[columns.shape[slot] ?? 0] ?? 'short',
    length: columns.length[slot] ?? 0,
  }
}

/** FNV-1a over what a slot cannot change: its terms, its scopes, where it stands. */
function sumOf({ terms, tfs, scopes, grp, place, startsAt }: IndexRow): number {
  let sum = 0x811c9dc5
  for (const bytes of [terms, tfs]) {
    for (let i = 0; i < bytes.length; i++) sum = Math.imul(sum ^ (bytes[i] ?? 0), 0x01000193)
  }
  const text = `${scopes.join('\n')}\n\n${grp ?? ''}\n${place}\n${startsAt}`
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193)
  return sum | 0
}
