import { setImmediate } from 'node:timers/promises'
import { createColumns } from './columns.ts'
import type { Columns } from './columns.ts'
import type { KeptIndex, NamespaceIndex } from './namespace-index.ts'

/** An index as named stretches of bytes, with what is needed to read them. */
export interface Snapshot {
  version: number
  writtenAt: string
  slots: number
  gone: number
  terms: number
  /** How many names each list has. */
  names: Readonly<Record<NameList, number>>
  sections: { name: string; bytes: Uint8Array }[]
}

const NAME_LISTS = ['groupNames', 'authors', 'audiences'] as const
type NameList = (typeof NAME_LISTS)[number]

/** Names that are encoded in one piece. */
const NAMES_A_STEP = 5_000

/**
 * A copy of an index whose postings are merged; others have their turn while it is made, but nobody may
 * change the index.
 */
export async function snapshotOf(index: NamespaceIndex): Promise<Snapshot> {
  const { version, writtenAt, slots, gone } = index
  const sections: Snapshot['sections'] = []
  const add = async (name: string, bytes: Uint8Array) => {
    sections.push({ name, bytes })
    await setImmediate()
  }
  for (const [name, column] of columnsOf(index.columns))
    await add(name, bytesOf(column.slice(0, slots)))
  for (const [name, array] of Object.entries(index.terms.arrays))
    await add(`terms.${name}`, bytesOf(array.slice()))
  // Merging makes new arrays and leaves these as they are.
  for (const [name, array] of Object.entries(index.postings.bulk))
    await add(`postings.${name}`, bytesOf(array))
  for (const list of NAME_LISTS) {
    const { names } = index[list]
    for (let start = 0; start < names.length; start += NAMES_A_STEP)
      await add(
        `${list}.${start}`,
        Buffer.from(names.slice(start, start + NAMES_A_STEP).join('\0')),
      )
  }
  return {
    version,
    writtenAt,
    slots,
    gone,
    terms: index.terms.size,
    names: {
      groupNames: index.groupNames.names.length,
      authors: index.authors.names.length,
      audiences: index.audiences.names.length,
    },
    sections,
  }
}

/** What a snapshot is of. Throws when a stretch is missing or has another length than it must have. */
export async function keptIndexOf(snapshot: Snapshot): Promise<KeptIndex> {
  const { version, writtenAt, slots, gone, terms } = snapshot
  const found = new Map(snapshot.sections.map(({ name, bytes }) => [name, bytes]))
  const sectionOf = (name: string): Uint8Array => {
    const bytes = found.get(name)
    if (bytes === undefined) throw new Error(`A snapshot of an index lacks ${name}`)
    return bytes
  }
  const namesOf = async (list: NameList): Promise<string[]> => {
    const names: string[] = []
    for (let start = 0; start < snapshot.names[list]; start += NAMES_A_STEP) {
      names.push(
        ...Buffer.from(sectionOf(`${list}.${start}`))
          .toString()
          .split('\0'),
      )
      await setImmediate()
    }
    if (names.length !== snapshot.names[list]) throw new Error(`A snapshot has other ${list}`)
    return names
  }
  const columns = createColumns(slots)
  for (const [name, column] of columnsOf(columns)) {
    column.set(arrayOf(column, sectionOf(name), slots))
    await setImmediate()
  }
  const numbers = ['highs', 'lows', 'numbers'] as const
  const [highs, lows, places] = numbers.map((name) =>
    arrayOf(new Int32Array(0), sectionOf(`terms.${name}`)),
  )
  const starts = arrayOf(new Uint32Array(0), sectionOf('postings.starts'))
  const length = starts.at(-1) ?? 0
  if (!highs || !lows || !places || !isPowerOfTwo(places.length) || highs.length !== places.length)
    throw new Error('A snapshot has no table of terms')
  return {
    version,
    writtenAt,
    slots,
    gone,
    columns,
    terms: { highs, lows, numbers: places, size: terms },
    bulk: {
      starts,
      slots: arrayOf(new Uint32Array(0), sectionOf('postings.slots'), length),
      tfs: arrayOf(new Uint16Array(0), sectionOf('postings.tfs'), length),
    },
    groupNames: await namesOf('groupNames'),
    authors: await namesOf('authors'),
    audiences: await namesOf('audiences'),
  }
}

function isPowerOfTwo(size: number): boolean {
  return size > 0 && (size & (size - 1)) === 0
}

type Column = Columns[keyof Columns]

function columnsOf(columns: Columns): [string, Column][] {
  return Object.entries(columns).map(([name, column]) => [`columns.${name}`, column as Column])
}

function bytesOf({ buffer, byteOffset, byteLength }: Column | Uint16Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** The bytes as numbers of the kind of `like`; they begin where a number of eight bytes may. */
function arrayOf<T extends Column | Uint16Array>(like: T, bytes: Uint8Array, length?: number): T {
  const size = like.BYTES_PER_ELEMENT
  const count = bytes.byteLength / size
  if (!Number.isInteger(count) || (length !== undefined && count !== length))
    throw new Error('A snapshot of an index has a stretch of another length')
  const make = like.constructor as new (buffer: ArrayBufferLike, from: number, count: number) => T
  return new make(bytes.buffer, bytes.byteOffset, count)
}
