import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCurrent, MARKER_KIND, planHead, planParts, recordedPart } from './plan.ts'
import type { Plan, PlanContext, PlannedSnapshot, RecordedPart } from './plan.ts'
import type { Part } from './part.ts'

const NOW = new Date('2026-05-01T00:00:00Z')
const APRIL = Date.UTC(2026, 3, 1) / 1000

function part(scope: string, digest: string, at: number | undefined = APRIL): Part {
  const entity = { kind: 'file', key: `file:${scope}`, title: scope, attributes: {} }
  return { scope, digest, entities: [entity], relations: [], bytes: 0, at }
}

/** A memory that accepts every snapshot, read back through the markers alone. */
function memory() {
  const recorded = new Map<string, RecordedPart>()
  return {
    recorded,
    accept(snapshots: readonly PlannedSnapshot[]) {
      for (const { entities } of snapshots) {
        const marker = entities.find(({ kind }) => kind === MARKER_KIND)
        const read = recordedPart(marker?.attributes ?? {})
        if (read) recorded.set(read.scope, read)
      }
    },
    context: (over: Partial<PlanContext> = {}): PlanContext => ({
      origin: { source: 'git', root: 'app' },
      recorded,
      now: NOW,
      at: undefined,
      ...over,
    }),
  }
}

const anyScope = () => true
const butKeep = (scope: string) => scope !== 'keep'
const scopes = (plan: Plan) => plan.snapshots.map(({ scope, reason }) => `${reason} ${scope}`)

describe('planParts', () => {
  it('sends new and changed parts and leaves the others alone', () => {
    const store = memory()
    const first = planParts([part('a', '1'), part('b', '1')], store.context(), anyScope)
    assert.deepEqual(scopes(first), ['new a', 'new b'])
    store.accept(first.snapshots)
    const second = planParts([part('a', '1'), part('b', '2')], store.context(), anyScope)
    assert.deepEqual(scopes(second), ['changed b'])
    assert.equal(second.unchanged, 1)
  })

  it('gives a content that returns a new snapshot id, and a repeated attempt the same one', () => {
    const store = memory()
    const ids = ['1', '2', '1'].map((digest) => {
      const plan = planParts([part('a', digest)], store.context(), anyScope)
      const again = planParts([part('a', digest)], store.context(), anyScope)
      assert.equal(plan.snapshots[0]?.snapshotId, again.snapshots[0]?.snapshotId)
      store.accept(plan.snapshots)
      return plan.snapshots[0]?.snapshotId
    })
    assert.equal(new Set(ids).size, 3)
  })

  it('empties a scope that is no longer filled, once, and only where that is allowed', () => {
    const store = memory()
    const parts = [part('a', '1'), part('b', '1'), part('keep', '1')]
    store.accept(planParts(parts, store.context(), anyScope).snapshots)
    const plan = planParts([part('a', '1')], store.context(), butKeep)
    assert.deepEqual(scopes(plan), ['retired b'])
    assert.deepEqual(
      plan.snapshots[0]?.entities.map(({ kind }) => kind),
      [MARKER_KIND],
    )
    store.accept(plan.snapshots)
    assert.deepEqual(scopes(planParts([part('a', '1')], store.context(), butKeep)), [])
    const back = planParts([part('b', '1')], store.context(), () => false)
    assert.notEqual(back.snapshots[0]?.snapshotId, 'b@1.1')
  })

  it('dates a part by its own time, but never into the future or before what it replaces', () => {
    const store = memory()
    const at = (seconds: number | undefined, digest: string) => {
      const plan = planParts([part('a', digest, seconds)], store.context(), anyScope)
      store.accept(plan.snapshots)
      return plan.snapshots[0]?.observedAt
    }
    assert.equal(at(APRIL, '1'), '2026-04-01T00:00:00Z')
    assert.equal(at(APRIL + 60, '2'), '2026-04-01T00:01:00Z')
    assert.equal(at(APRIL, '3'), '2026-05-01T00:00:00Z')
    assert.equal(at(NOW.getTime() / 1000 + 60, '4'), '2026-05-01T00:00:00Z')
  })
})

describe('the head part', () => {
  it('makes an unchanged source recognisable, and only while all parts are as published', () => {
    const store = memory()
    const publish = (digest: string, fingerprint: string, headArrives = true) => {
      const context = store.context()
      const plan = planParts([part('a', digest)], context, (scope) => scope !== 'head')
      const head = planHead(part('head', fingerprint), fingerprint, plan, context)
      store.accept(plan.snapshots)
      if (head && headArrives) store.accept([head])
      return head
    }
    assert.ok(publish('1', 'commit 1'))
    assert.equal(isCurrent(store.recorded, 'head', 'commit 1'), true)
    assert.equal(isCurrent(store.recorded, 'head', 'commit 2'), false)
    assert.equal(publish('1', 'commit 1'), undefined)
    // A run towards commit 2 that dies before its head part arrives, then a return to commit 1.
    publish('2', 'commit 2', false)
    assert.equal(isCurrent(store.recorded, 'head', 'commit 1'), false)
    assert.ok(publish('1', 'commit 1'))
    assert.equal(isCurrent(store.recorded, 'head', 'commit 1'), true)
  })
})
