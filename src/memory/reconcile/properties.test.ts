import assert from 'node:assert/strict'
import { env } from 'node:process'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { memorySources } from '../../../test/support/memory-sources.ts'

const db = await sharedMemoryDb()
/** More for a thorough run: `RECONCILE_RUNS=500`. */
const RUNS = Number(env['RECONCILE_RUNS'] ?? 4)

const SOURCES = ['erp', 'git', 'web'] as const
const KEYS = ['a', 'b', 'c', 'd'] as const
type Source = (typeof SOURCES)[number]

interface Said {
  title: string | null
  attributes: Record<string, number>
}

interface Step {
  source: Source
  says: Partial<Record<(typeof KEYS)[number], Said>>
  links: [string, string][]
}

const said: fc.Arbitrary<Said> = fc.record({
  title: fc.constantFrom(null, 'one', 'two'),
  attributes: fc.dictionary(fc.constantFrom('x', 'y', 'z'), fc.integer({ min: 0, max: 2 }), {
    maxKeys: 3,
    noNullPrototype: true,
  }),
})
const step: fc.Arbitrary<Step> = fc.record({
  source: fc.constantFrom(...SOURCES),
  says: fc.record({ a: said, b: said, c: said, d: said }, { requiredKeys: [] }),
  links: fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...KEYS)), {
    selector: String,
    maxLength: 3,
  }),
})

/** What one source says now, and since which step it has said each value without a break. */
interface Told {
  title: [string, number]
  attributes: Map<string, [number, number]>
}

/** The rules written down once more, without versions, closings or a database. */
class Model {
  readonly told = new Map<Source, Map<string, Told>>()
  readonly links = new Map<Source, Set<string>>()

  take({ source, says, links }: Step, now: number): void {
    const before = this.told.get(source) ?? new Map<string, Told>()
    const after = new Map<string, Told>()
    for (const [key, { title, attributes }] of Object.entries(says)) {
      const old = before.get(key)
      const name = title ?? key
      after.set(key, {
        title: [name, old?.title[0] === name ? old.title[1] : now],
        attributes: new Map(
          Object.entries(attributes).map(([attribute, value]) => {
            const known = old?.attributes.get(attribute)
            return [attribute, [value, known?.[0] === value ? known[1] : now]]
          }),
        ),
      })
    }
    this.told.set(source, after)
    this.links.set(source, new Set(links.map(String)))
  }

  entities(): [string, string, Record<string, number>][] {
    return KEYS.flatMap((key) => {
      const saying = SOURCES.flatMap((source) => this.told.get(source)?.get(key) ?? [])
      if (saying.length === 0) return []
      const titles = saying.map(({ title }) => title).filter(([title]) => title !== key)
      const names = new Set(saying.flatMap(({ attributes }) => [...attributes.keys()]))
      const attributes = [...names].toSorted().map((name) => {
        const values = saying.flatMap((one) => {
          const value = one.attributes.get(name)
          return value ? [value] : []
        })
        return [name, latest(values)?.[0] ?? 0] as const
      })
      return [[key, latest(titles)?.[0] ?? key, Object.fromEntries(attributes)]]
    })
  }

  /** A relation holds for as long as its source says it, from when both ends were known. */
  pending(source: Source): number {
    const known = new Set(this.entities().map(([key]) => key))
    return [...(this.links.get(source) ?? [])].filter((link) =>
      link.split(',').some((key) => !known.has(key)),
    ).length
  }
}

/** The value said first most recently; of equals that of the first source in the alphabet. */
function latest<T>(values: readonly [T, number][]): [T, number] | undefined {
  return values.toSorted(([, a], [, b]) => b - a)[0]
}

describe('snapshots of several sources in any order', () => {
  it('leave what a naive model says, at each moment then and afterwards', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), async (steps) => {
        const { reconcile, post, namespace } = memorySources(db)
        const model = new Model()
        const history: unknown[] = []
        const seen = async (asOf?: string) => {
          const { body } = await post('/api/memory/entities:query', {
            scope: { namespace },
            kinds: ['thing'],
            ...(asOf !== undefined && { asOf }),
          })
          return body.items.map((one: { key: string; title: string; attributes: object }) => [
            one.key,
            one.title,
            Object.fromEntries(
              Object.entries(one.attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)),
            ),
          ])
        }
        for (const [index, one] of steps.entries()) {
          const day = index + 1
          const snapshot = {
            source: one.source,
            allowEmpty: true,
            entities: Object.entries(one.says).map(([key, { title, attributes }]) => ({
              kind: 'thing',
              key,
              title,
              attributes,
            })),
            relations: one.links.map(([from, to]) => ({
              relation: 'next_to',
              from: { kind: 'thing', key: from },
              to: { kind: 'thing', key: to },
            })),
          }
          const before = await seen()
          const preview = await reconcile(`s${day}`, day, { ...snapshot, dryRun: true })
          assert.deepEqual(await seen(), before)
          const { status, body } = await reconcile(`s${day}`, day, snapshot)
          assert.equal(status, 200, JSON.stringify(body))
          assert.deepEqual({ ...preview.body, dryRun: false }, body)
          model.take(one, day)
          assert.deepEqual(await seen(), model.entities())
          history.push(model.entities())
          const again = await reconcile(`again-${day}`, day, snapshot)
          const { opened, closed, superseded } = again.body
          assert.deepEqual([opened, closed, superseded], [0, 0, 0])
          assert.equal(again.body.stateToken, body.stateToken)
        }
        for (const [index, expected] of history.entries()) {
          const asOf = `2026-01-${String(index + 1).padStart(2, '0')}T12:00:00Z`
          assert.deepEqual(await seen(asOf), expected, asOf)
        }
      }),
      { numRuns: RUNS },
    )
  })
})
