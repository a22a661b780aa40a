import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controlPlaneRoutes, memoryRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { isRefusedAt, leavesOf } from './support/leaves.ts'
import type { Leaf } from './support/leaves.ts'

/** Text that only the size of the whole body bounds, and why. */
const AS_LONG_AS_THE_BODY: Readonly<Record<string, string>> = {
  'createArtifact body.content': 'the content itself',
  'storeDocument body.content': 'the content itself',
  'storeDocument body.chunks.0.text': 'the content itself',
  'putDocument body.content': 'the content itself',
  'putDocument body.chunks.0.text': 'the content itself',
  'retain body.content': 'the content itself, up to 1 MiB',
}

/** Numbers that are brought within their bounds, as the protocol has it. */
const CLAMPED: readonly string[] = ['retain body.confidence', 'putFact body.confidence']

const ALL = {
  'control plane': controlPlaneRoutes,
  memory: memoryRoutes,
}

/** Longer than any text that is not the content of something. */
const LONG = 'x'.repeat(300_000)

/** What no field of this kind takes: beyond its bounds, of another type, not a number at all. */
function wrongFor({ rules }: Leaf): readonly unknown[] {
  const { type, maxLength, minimum, maximum, maxItems } = rules
  const others = type === 'object' ? [[], 'text', 1, true] : [{ surprise: 1 }]
  const bounds = [
    ...(maxLength === undefined ? [] : ['x'.repeat(maxLength + 1)]),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(maxItems === undefined ? [] : [Array.from({ length: maxItems + 1 }, () => null)]),
  ]
  if (type === 'string') return [...others, ...bounds, LONG, 1, true, []]
  if (type === 'integer') return [...others, ...bounds, 0.5, 1e300, -1e300, '1', true, []]
  if (type === 'number') return [...others, ...bounds, 1e300, -1e300, '1', true, []]
  if (type === 'array') return [...others, ...bounds, 'text', 1, true]
  if (type === 'boolean') return [...others, 1, 'true', []]
  return type === 'object' ? others : []
}

/** The type of a value by the words of JSON Schema. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return value === null ? 'null' : typeof value
}

/** The type by which another alternative at the same place may take a value. */
function typesBeside(leaf: Leaf, leaves: readonly Leaf[]): string[] {
  return leaves
    .filter((other) => other !== leaf && placeOf(other) === placeOf(leaf))
    .map(({ rules: { type = '' } }) => (type === 'integer' ? 'number' : type))
    .filter((type) => type !== leaf.rules.type)
}

function placeOf({ steps }: Leaf): string {
  return ['body', ...steps.map(({ name }) => name)].join('.')
}

/** Every place of a body that takes what it should not, with that. */
function taken(operationId: string, { body }: Route): string[] {
  const leaves = leavesOf(body)
  return leaves.flatMap((leaf) => {
    const place = placeOf(leaf)
    const beside = typesBeside(leaf, leaves)
    const mayBeLong = `${operationId} ${place}` in AS_LONG_AS_THE_BODY
    const isClamped = CLAMPED.includes(`${operationId} ${place}`)
    return wrongFor(leaf)
      .filter((value) => !beside.includes(typeOf(value)) && !(mayBeLong && value === LONG))
      .filter((value) => !(isClamped && typeof value === 'number'))
      .filter((value) => !isRefusedAt(body, leaf, value))
      .map((value) => `${place} takes ${JSON.stringify(value).slice(0, 30)}`)
  })
}

for (const [name, routes] of Object.entries(ALL)) {
  describe(`every field of a body that the ${name} takes`, () => {
    for (const [operationId, route] of Object.entries<Route>(routes)) {
      it(`is bounded and of its type: ${operationId}`, () => {
        assert.deepEqual(taken(operationId, route), [])
      })
    }
  })

  describe(`every parameter of a query that the ${name} takes`, () => {
    for (const [operationId, route] of Object.entries<Route>(routes)) {
      it(`is bounded: ${operationId}`, () => {
        for (const leaf of leavesOf(route.query)) {
          const place = leaf.steps.map((step) => step.name).join('.')
          assert.ok(isRefusedAt(route.query, leaf, LONG), place)
        }
      })
    }
  })
}
