import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fenceFinder, sectionFault } from '../../test/support/fence-check.ts'
import { renderContext } from './render-context.ts'

const NONCE = '0123456789abcdef'
const findFence = fenceFinder()

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 700 }),
  fc
    .array(
      fc.constantFrom(
        '<',
        '</',
        'recalled_',
        'memory',
        '>',
        '\n',
        '### a',
        '- ',
        '&lt;',
        '\u200b',
        ' ',
        'x',
      ),
    )
    .map((parts) => parts.join('')),
)
const anything = fc.oneof(fc.jsonValue({ maxDepth: 3 }), text)
const item = fc.record(
  { text, title: anything, source_path: anything, provenance: anything, signals: anything },
  { requiredKeys: [] },
)
const section = fc.record(
  { kind: anything, items: fc.oneof(fc.array(item), anything) },
  { requiredKeys: [] },
)
const entity = fc.record(
  { key: text, title: anything, attributes: fc.dictionary(text, anything), anchor: fc.boolean() },
  { requiredKeys: [] },
)
const fact = fc.record(
  { subject: anything, relation: anything, object: anything },
  { requiredKeys: [] },
)
const response = fc.record(
  {
    memoryStatus: fc.oneof({ weight: 4, arbitrary: fc.constant('ok') }, anything),
    memoryTraceId: anything,
    memory: fc.record({ sections: fc.oneof(fc.array(section), anything) }),
    taskContext: fc.record({
      status: fc.constant('ok'),
      budgetTokens: anything,
      asOf: anything,
      contextPackId: anything,
      pack: fc.record({
        anchors: anything,
        sections: fc.oneof(
          fc.array(fc.record({ kind: anything, items: fc.array(entity) })),
          anything,
        ),
        facts: fc.oneof(fc.array(fact), anything),
      }),
    }),
  },
  { requiredKeys: [] },
)
const budget = fc.oneof(fc.integer({ min: 0, max: 1500 }), fc.constantFrom(12_000, 100_000))

describe('the rendered section of any answer', () => {
  it('keeps budget, frame and fence', () => {
    fc.assert(
      fc.property(response, budget, (given, budgetChars) => {
        const rendered = renderContext(given, { budgetChars, nonce: NONCE })
        assert.equal(sectionFault(rendered, { budgetChars, nonce: NONCE }, findFence), undefined)
      }),
      { numRuns: 1500 },
    )
  })

  it('is a string within the budget for any JSON at all', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: -10, max: 5000 }), (given, budgetChars) => {
        assert.ok(
          renderContext(given, { budgetChars, nonce: NONCE }).length <= Math.max(0, budgetChars),
        )
      }),
      { numRuns: 1000 },
    )
  })

  it('is the same for the same answer', () => {
    fc.assert(
      fc.property(response, (given) => {
        const options = { budgetChars: 12_000, nonce: NONCE }
        assert.equal(renderContext(given, options), renderContext(structuredClone(given), options))
      }),
      { numRuns: 200 },
    )
  })
})
