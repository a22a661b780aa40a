import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { AUTONOMY_LEVELS, GivenGovernance, MEMORY_SHARING } from '#contract/project-config.ts'
import type { Governance } from '#contract/project-config.ts'
import { PRIORITIES } from '#contract/tasks.ts'
import { effectiveOfLine } from './effective-config.ts'
import type { ProjectLayers } from './effective-config.ts'
import { complete, fold, stricter, UNRESTRICTED, weakenings } from './governance.ts'

const bound = fc.option(fc.integer({ min: 1, max: 5 }))
/** Spelled in several ways. */
const money = fc.option(fc.constantFrom('0.5', '0.50', '2', '2.000', '10'))
const protocols = fc.subarray(['mcp', 'http', 'local', 'opencode', 'custom'])

/** What one layer may ask for: any fields, with few values, so that they often meet. */
const given: fc.Arbitrary<GivenGovernance> = fc.record(
  {
    maxAutonomyLevel: fc.constantFrom(...AUTONOMY_LEVELS),
    requireApprovalForRun: fc.boolean(),
    requireApprovalForCompletion: fc.boolean(),
    allowedTaskPriorities: fc.option(fc.shuffledSubarray([...PRIORITIES])),
    allowedSkillProtocols: fc.option(protocols),
    maxRunDurationSeconds: bound,
    maxRunActions: bound,
    maxConcurrentRuns: fc.option(fc.integer({ min: 0, max: 5 })),
    memoryScopeSharing: fc.constantFrom(...MEMORY_SHARING),
    maxRunTokens: bound,
    maxRunCost: money,
    maxMonthTokens: bound,
    maxMonthCost: money,
    maxTotalTokens: bound,
    maxTotalCost: money,
  },
  { requiredKeys: [] },
)
const rules = given.map(complete)

const layers: fc.Arbitrary<ProjectLayers> = fc.tuple(given, given).map(([template, revision]) => ({
  projectId: 'p',
  template: { governance: template },
  revision: { governance: revision },
  settings: {},
}))

function within(x: number | null, y: number | null): boolean {
  return y === null || (x !== null && x <= y)
}

function withinMoney(x: string | null, y: string | null): boolean {
  return within(x === null ? null : Number(x), y === null ? null : Number(y))
}

function inside(x: readonly string[] | null, y: readonly string[] | null): boolean {
  return y === null || (x !== null && x.every((item) => y.includes(item)))
}

/** By what each field means, written down again: whether `a` allows nothing that `b` forbids. */
function asStrictAs(a: Governance, b: Governance): boolean {
  return [
    AUTONOMY_LEVELS.indexOf(a.maxAutonomyLevel) <= AUTONOMY_LEVELS.indexOf(b.maxAutonomyLevel),
    a.requireApprovalForRun || !b.requireApprovalForRun,
    a.requireApprovalForCompletion || !b.requireApprovalForCompletion,
    inside(a.allowedTaskPriorities ?? PRIORITIES, b.allowedTaskPriorities),
    inside(a.allowedSkillProtocols, b.allowedSkillProtocols),
    within(a.maxRunDurationSeconds, b.maxRunDurationSeconds),
    within(a.maxRunActions, b.maxRunActions),
    within(a.maxConcurrentRuns, b.maxConcurrentRuns),
    MEMORY_SHARING.indexOf(a.memoryScopeSharing) <= MEMORY_SHARING.indexOf(b.memoryScopeSharing),
    within(a.maxRunTokens, b.maxRunTokens),
    within(a.maxMonthTokens, b.maxMonthTokens),
    within(a.maxTotalTokens, b.maxTotalTokens),
    withinMoney(a.maxRunCost, b.maxRunCost),
    withinMoney(a.maxMonthCost, b.maxMonthCost),
    withinMoney(a.maxTotalCost, b.maxTotalCost),
  ].every(Boolean)
}

function inForce(line: readonly ProjectLayers[]): Governance {
  return effectiveOfLine(line)?.config.governance ?? UNRESTRICTED
}

describe('the rules of projects', () => {
  it('meet in one way, whichever comes first and however often', () => {
    fc.assert(
      fc.property(rules, rules, rules, (a, b, c) => {
        assert.deepEqual(stricter(a, a), a)
        assert.deepEqual(stricter(a, UNRESTRICTED), a)
        assert.deepEqual(stricter(a, b), stricter(b, a))
        assert.deepEqual(stricter(stricter(a, b), c), stricter(a, stricter(b, c)))
      }),
    )
  })

  it('fold to the weakest that is as strict as every layer', () => {
    fc.assert(
      fc.property(fc.array(given, { maxLength: 5 }), rules, (all, other) => {
        const folded = fold(all)
        assert.ok(all.every((layer) => asStrictAs(folded, complete(layer))))
        assert.deepEqual(folded, fold(all.toReversed()))
        const isBelowAll = all.every((layer) => asStrictAs(other, complete(layer)))
        assert.equal(isBelowAll, asStrictAs(other, folded))
      }),
    )
  })

  it('only get stricter on the way down', () => {
    fc.assert(
      fc.property(fc.array(layers, { minLength: 1, maxLength: 6 }), (line) => {
        line.forEach((_, depth) => {
          assert.ok(asStrictAs(inForce(line), inForce(line.slice(0, depth))))
        })
      }),
    )
  })

  it('get stricter everywhere below when they do so anywhere above', () => {
    fc.assert(
      fc.property(
        fc.array(layers, { minLength: 1, maxLength: 5 }),
        fc.nat(),
        given,
        (line, n, more) => {
          const at = n % line.length
          const tightened = line.map((project, index) => {
            const both = fold([project.revision.governance ?? {}, more])
            return index === at ? { ...project, revision: { governance: both } } : project
          })
          assert.ok(asStrictAs(inForce(tightened), inForce(line)))
        },
      ),
    )
  })

  it('name what a layer asks for in vain, field by field, and nothing else', () => {
    fc.assert(
      fc.property(rules, given, (above, own) => {
        const named = weakenings(above, own).map(({ path }) => path.replace('governance.', ''))
        const [weaker, kept] = [true, false].map((isNamed) =>
          Object.fromEntries(
            Object.entries(own).filter(([name]) => named.includes(name) === isNamed),
          ),
        )
        assert.deepEqual(weakenings(above, kept ?? {}), [])
        for (const [name, value] of Object.entries(weaker ?? {})) {
          const alone = complete({ ...above, [name]: value })
          assert.equal(asStrictAs(alone, above), false, name)
        }
      }),
    )
  })

  it('spell the same thing in one way', () => {
    const all = complete({ allowedTaskPriorities: ['low', 'medium', 'critical', 'high'] })
    assert.deepEqual(all, UNRESTRICTED)
    const some = complete({
      allowedTaskPriorities: ['low', 'high'],
      allowedSkillProtocols: ['b', 'a'],
    })
    assert.deepEqual(some.allowedTaskPriorities, ['high', 'low'])
    assert.deepEqual(some.allowedSkillProtocols, ['a', 'b'])
    assert.deepEqual(weakenings(some, { allowedTaskPriorities: null }), [
      { path: 'governance.allowedTaskPriorities', ancestor: ['high', 'low'], child: null },
    ])
    assert.deepEqual(weakenings(UNRESTRICTED, { allowedTaskPriorities: [...PRIORITIES] }), [])
  })

  it('know no other fields', () => {
    const { error } = GivenGovernance.safeParse({ maxRunActions: 1, maxRunAction: 2 })
    assert.deepEqual(
      error?.issues.map(({ path, code }) => [path, code]),
      [[['maxRunAction'], 'custom']],
    )
  })
})
