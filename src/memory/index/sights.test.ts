import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Reader } from '../recall/reader.ts'
import { audienceFor, isVisible } from '../visibility.ts'
import { createNamespaceIndex, KINDS } from './namespace-index.ts'
import type { IndexRow } from './namespace-index.ts'
import { sightOf } from './readable.ts'

const moment = fc.integer({ min: 0, max: 40 })
const SCOPES = ['workspace:a', 'workspace:b', 'principal:p', 'task:1', 'task:2']
const EMPTY_ARRAY = Buffer.alloc(0)

const row = fc.record({
  item: fc.integer({ min: 1, max: 12 }),
  kind: fc.constantFrom(...KINDS),
  scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { maxLength: 2 }),
  startsAt: moment,
  validTo: fc.option(moment),
  ingestedAt: moment,
  closedAt: fc.option(moment),
  retiredAt: fc.option(moment),
  replaced: fc.boolean(),
})
type Row = typeof row extends fc.Arbitrary<infer T> ? T : never

const reader = fc.record({
  allowed: fc.option(fc.uniqueArray(fc.constantFrom(...SCOPES, 'workspace:*'), { maxLength: 2 })),
  asOf: fc.option(moment),
  knownAt: fc.option(moment),
  kinds: fc.uniqueArray(fc.constantFrom(...KINDS), { minLength: 1 }),
  relevance: fc.oneof(
    fc.constant({ filter: 'none' as const }),
    fc.record({
      filter: fc.constantFrom('about' as const, 'placed' as const),
      scopes: fc.uniqueArray(fc.constantFrom(...SCOPES), { minLength: 1, maxLength: 2 }),
    }),
  ),
})

const step = fc.oneof(
  fc.record({ put: row }),
  fc.record({ remove: fc.integer({ min: 1, max: 12 }) }),
  fc.record({ ask: reader, now: moment }),
)

/** Some microseconds after 1970, as a request writes them. */
const iso = (at: number | null) =>
  at === null ? null : `1970-01-01T00:00:00.${String(at).padStart(6, '0')}Z`

describe('what a reader sees of an index', () => {
  it('is what each item alone says, whatever was asked and changed before', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const index = createNamespaceIndex('1')
        const rows = new Map<number, Row>()
        for (const one of steps) {
          if ('put' in one) {
            rows.set(one.put.item, one.put)
            index.put(indexRow(one.put))
          } else if ('remove' in one) {
            rows.delete(one.remove)
            index.remove(one.remove)
          } else {
            const { allowed, asOf, knownAt, kinds, relevance } = one.ask
            const asked: Reader = {
              audience: audienceFor(allowed),
              asOf: iso(asOf),
              knownAt: iso(knownAt),
              relevance,
            }
            const sight = sightOf(index, asked, kinds, one.now)
            const found = (test: (slot: number) => boolean) =>
              Array.from({ length: index.slots }, (_, slot) => slot)
                .filter(test)
                .map((slot) => index.columns.item[slot])
                .toSorted(ascending)
            const expected = (test: (item: Row) => boolean) =>
              [...rows.values()]
                .filter((item) => kinds.includes(item.kind) && test(item))
                .map(({ item }) => item)
                .toSorted(ascending)
            const at = asOf ?? one.now
            assert.deepEqual(
              found(sight.isReadable),
              expected(
                (item) =>
                  isBegun(item, asked, { at, knownAt }) &&
                  isOpen(item, { at, knownAt }) &&
                  isRelevant(item, asked),
              ),
            )
            assert.deepEqual(
              found(sight.isReplaced),
              expected((item) => item.replaced && isBegun(item, asked, { at, knownAt })),
            )
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})

function ascending(a = 0, b = 0): number {
  return a - b
}

interface Moments {
  at: number
  knownAt: number | null
}

function isBegun(item: Row, { audience }: Reader, { at, knownAt }: Moments): boolean {
  const isKnown =
    knownAt === null
      ? item.retiredAt === null
      : item.ingestedAt <= knownAt && (item.retiredAt === null || item.retiredAt > knownAt)
  return isVisible(audienceOf(item.scopes), audience) && item.startsAt <= at && isKnown
}

function isOpen({ validTo, closedAt }: Row, { at, knownAt }: Moments): boolean {
  if (validTo === null || validTo > at) return true
  return knownAt !== null && (closedAt === null || closedAt > knownAt)
}

function isRelevant({ scopes }: Row, { relevance }: Reader): boolean {
  if (relevance.filter === 'none') return true
  if (scopes.some((scope) => relevance.scopes.includes(scope))) return true
  return relevance.filter === 'placed' ? audienceOf(scopes).length === 0 : scopes.length === 0
}

/** As the schema's `audience_of`. */
function audienceOf(scopes: readonly string[]): string[] {
  const workspaces = scopes.filter((scope) => scope.startsWith('workspace:'))
  return workspaces.length > 0
    ? workspaces
    : scopes.filter((scope) => scope.startsWith('principal:'))
}

function indexRow(item: Row): IndexRow {
  return {
    ...item,
    item: String(item.item),
    shape: 'short',
    grp: null,
    author: null,
    place: 0,
    words: 3,
    audience: audienceOf(item.scopes),
    terms: EMPTY_ARRAY,
    tfs: EMPTY_ARRAY,
  }
}
