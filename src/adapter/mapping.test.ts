import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { EVENTS } from '#contract/events.ts'
import type { JournalEvent } from '#contract/events.ts'
import { newId } from '#lib/id.ts'
import { toObservation } from './mapping.ts'
import { WHITE_LIST } from './white-list.ts'

const taskId = newId()
const workspaceId = newId()
const actorId = newId()

function event(over: Partial<JournalEvent>): JournalEvent {
  return {
    cursor: 'ec1_x',
    sequence: '7',
    txId: '9',
    id: newId(),
    tenantId: newId(),
    type: 'task.claimed',
    schemaVersion: 1,
    entityType: 'task',
    entityId: taskId,
    entityVersion: 2,
    workspaceId,
    actorId,
    sessionId: null,
    correlationId: null,
    causationId: null,
    requestId: null,
    traceRunId: null,
    iamActorId: null,
    payload: {},
    occurredAt: '2026-01-01T00:00:00.000Z',
    ...over,
  }
}

const recorded = { content: 'Use UTC everywhere', data: null, assertions: null }

describe('toObservation', () => {
  it('carries listed fields and no other', () => {
    const payload = { publicId: 'TASK-000001', intent: 'fix', secretNote: 'x', fencingToken: 3 }
    const observation = toObservation(event({ payload }), undefined)
    assert.equal(observation?.content, 'task.claimed: TASK-000001: fix')
    assert.deepEqual(Object.keys(observation?.data ?? {}).toSorted(), [
      'eventSequence',
      'intent',
      'mappingVersion',
      'publicId',
    ])
    assert.ok(!JSON.stringify(observation).includes('secretNote'))
  })

  it('drops every event that the white list does not name, also one with a name of an object', () => {
    const types = [...Object.keys(EVENTS), 'task.exploded', 'constructor', '__proto__', 'toString']
    for (const type of types) {
      const isListed = Object.keys(WHITE_LIST).includes(type)
      assert.equal(toObservation(event({ type }), recorded) !== null, isListed, type)
    }
  })

  it('never lets an unlisted field out, whatever the payload holds', () => {
    const needle = 'needle-7f3a'
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.keys(WHITE_LIST)),
        fc.dictionary(fc.string({ minLength: 1 }), fc.anything()),
        (type, junk) => {
          const listed = new Set(WHITE_LIST[type])
          const payload = Object.fromEntries(
            Object.keys(junk)
              .filter((name) => !listed.has(name) && !KNOWN_TO_SCOPES.has(name))
              .map((name) => [name, needle]),
          )
          const observation = toObservation(event({ type, payload }), recorded)
          assert.ok(!JSON.stringify(observation).includes(needle))
        },
      ),
    )
  })

  it('makes the workspace of the row the audience, never the author or another workspace', () => {
    const other = newId()
    const payload = { taskId, workspaceId: other, principalId: actorId }
    const observation = toObservation(
      event({ type: 'observation.recorded', entityType: 'observation', payload }),
      recorded,
    )
    assert.deepEqual(
      observation?.scopes.filter((scope) => /^(workspace|principal):/.test(scope)),
      [`workspace:${workspaceId}`],
    )
    assert.ok(observation?.scopes.includes(`task:${taskId}`))
    assert.deepEqual(observation?.actor, { type: 'principal', id: actorId })
  })

  it('shows a private observation to its author alone', () => {
    const payload = { visibility: 'private', kind: 'note', workspaceId }
    const observation = toObservation(event({ type: 'observation.recorded', payload }), recorded)
    assert.deepEqual(
      observation?.scopes.filter((scope) => /^(workspace|principal):/.test(scope)),
      [`principal:${actorId}`],
    )
  })

  it('shows what belongs to no workspace to the whole tenant, also the making of a principal', () => {
    const made = event({
      type: 'principal.created',
      entityType: 'principal',
      entityId: actorId,
      workspaceId: null,
    })
    assert.deepEqual(toObservation(made, undefined)?.scopes, [`actor:${actorId}`])
  })

  it("does not take the author's word for what the server vouches for", () => {
    const data = { supersedes: newId(), kind: 'decision', mappingVersion: 99, own: 1 }
    const payload = { kind: 'note', supersedes: null }
    const observation = toObservation(event({ type: 'observation.recorded', payload }), {
      ...recorded,
      data,
    })
    assert.deepEqual(observation?.data, {
      own: 1,
      kind: 'note',
      mappingVersion: 5,
      eventSequence: '7',
    })
  })

  it('skips a recorded observation whose content has been erased', () => {
    assert.equal(toObservation(event({ type: 'observation.recorded' }), undefined), null)
  })

  it('gives the same observation for the same event', () => {
    const same = event({ payload: { publicId: 'TASK-000002' } })
    assert.deepEqual(toObservation(same, undefined), toObservation(same, undefined))
  })
})

/** Payload fields that become scopes: what an event is about, not what it says. */
const KNOWN_TO_SCOPES = new Set([
  'taskId',
  'runId',
  'parentProjectId',
  'fromTaskId',
  'toTaskId',
  'artifactId',
  'goalId',
  'parentGoalId',
  'principalId',
  '__proto__',
])
