import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { claimTask, heartbeatClaim } from '#contract/claims.ts'
import { getContext } from '#contract/context.ts'
import type { ContextReply, MemoryStatus } from '#contract/context.ts'
import { recordObservation } from '#contract/observations.ts'
import { startRun, succeedRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { fakeServer, reply } from '../support/http-server.ts'
import { wholeStrata } from '../support/strata.ts'

/** A task that the caller holds and works on. */
async function working(client: ClientOptions) {
  const task = await call(client, createTask, { body: { title: 'Repair the bridge' } })
  const session = await call(client, openSession, { body: { clientName: 'test' } })
  const params = { ref: task.publicId }
  const claim = await call(client, claimTask, { params, body: { sessionId: session.id } })
  const { id: claimId, fencingToken } = claim
  const run = await call(client, startRun, { params, body: { claimId, fencingToken } })
  return { ref: task.publicId, taskId: task.id, claimId, fencingToken, runId: run.id }
}

/** The operational half without what moves by itself. */
function truth({ operational }: ContextReply): unknown {
  const { eventCursor: _, ...rest } = operational
  return rest
}

describe('what memory says against a live claim', () => {
  it('changes nothing of what is true now', async (t) => {
    const { tenant, deliver, withMemory } = await wholeStrata(t)
    const { client, key } = await tenant()
    const work = await working(client)
    const lies = [
      `${work.ref} is released: nobody holds the claim any more, its fencing token is 999`,
      `${work.ref} is completed and its run has succeeded; status completed`,
    ]
    for (const content of lies) {
      await call(client, recordObservation, {
        body: {
          kind: 'decision',
          content,
          task: work.ref,
          data: { status: 'completed', activeClaims: [], fencingToken: 999 },
          assertions: [
            {
              assert: 'fact',
              fact: {
                subject: `task:${work.taskId}`,
                predicate: 'HAS_STATUS',
                object: 'status:completed',
              },
            },
          ],
        },
      })
    }
    await deliver()

    const body = { task: work.ref, query: 'who holds the claim' }
    const told = await call(client, getContext, { body })
    const untold = await call(withMemory(null)(key), getContext, { body })

    assert.equal(told.memoryStatus, 'ok')
    const items = JSON.stringify(told.memory?.['sections'])
    for (const lie of lies) assert.ok(items.includes(lie), 'memory does repeat what it was told')
    assert.deepEqual(truth(told), truth(untold))
    const [claim] = told.operational.activeClaims
    assert.equal(claim?.id, work.claimId)
    assert.equal(claim?.fencingToken, work.fencingToken)
    assert.equal(told.operational.focus.task?.activeClaimId, work.claimId)
    assert.equal(told.operational.activeRuns[0]?.id, work.runId)
  })
})

type Broken = (t: TestContext) => Promise<{ url: string }>

const answering =
  (status: number, body: unknown): Broken =>
  (t) =>
    fakeServer(t, (_, response) => reply(response, status, body))

const BROKEN: Readonly<Record<string, { memory: Broken; status: MemoryStatus }>> = {
  'is not there': {
    memory: async (t) => {
      const server = await fakeServer(t, () => {})
      await server.close()
      return server
    },
    status: 'unavailable',
  },
  'takes the question and never answers': {
    memory: (t) => fakeServer(t, () => {}),
    status: 'timeout',
  },
  'begins an answer and never ends it': {
    memory: (t) =>
      fakeServer(t, (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('{"sections": [')
      }),
    status: 'timeout',
  },
  'cuts the connection': {
    memory: (t) => fakeServer(t, (_, response) => response.destroy()),
    status: 'unavailable',
  },
  'answers with a page': { memory: answering(200, '<html>Welcome</html>'), status: 'unavailable' },
  'answers with a list': { memory: answering(200, []), status: 'unavailable' },
  'answers that it is ill': { memory: answering(503, { detail: 'ill' }), status: 'unavailable' },
  'refuses our key': { memory: answering(401, { detail: 'who?' }), status: 'unavailable' },
}

describe('the context of a caller whose memory does not help', () => {
  it('has all that is true now, and work goes on', async (t) => {
    const { tenant, withMemory } = await wholeStrata(t)
    const { key } = await tenant()
    for (const [trouble, { memory, status }] of Object.entries(BROKEN)) {
      await t.test(`when it ${trouble}`, async (inner) => {
        const { url } = await memory(inner)
        const limit = { timeoutSeconds: status === 'timeout' ? 1 : 30 }
        await workWithout(withMemory({ url, ...limit })(key), status)
      })
    }
  })
})

/** Asks for context while the same caller goes on working, and again once all of it is done. */
async function workWithout(client: ClientOptions, status: MemoryStatus): Promise<void> {
  const work = await working(client)
  const body = { task: work.ref }
  const asking = Array.from({ length: 20 }, () => call(client, getContext, { body }))
  const { claimId, fencingToken } = work
  await call(client, heartbeatClaim, { params: { id: claimId }, body: { fencingToken } })
  const other = await working(client)
  for (const context of await Promise.all(asking)) {
    assert.equal(context.memoryStatus, status)
    assert.equal(context.memory, null)
    assert.equal(context.warnings.length, 1)
    assert.equal(context.operational.focus.task?.activeClaimId, claimId)
  }
  const after = await call(client, getContext, { body: { ...body, includeMemory: false } })
  assert.equal(after.memoryStatus, 'disabled')
  const claims = after.operational.activeClaims.map(({ id }) => id)
  assert.ok(claims.includes(claimId) && claims.includes(other.claimId))
  for (const { runId: id, fencingToken: token } of [work, other]) {
    const ended = { fencingToken: token, completeTask: true }
    const done = await call(client, succeedRun, { params: { id }, body: ended })
    assert.equal(done.status, 'succeeded')
  }
}
