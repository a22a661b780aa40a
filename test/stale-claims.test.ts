import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { call, send } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { controlPlaneRoutes } from '#contract/all.ts'
import { beginArtifactUpload } from '#contract/artifact-uploads.ts'
import * as claims from '#contract/claims.ts'
import { sendControlMessage } from '#contract/control-messages.ts'
import type { Route } from '#contract/route.ts'
import { recordAction } from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { sha256 } from '#lib/id.ts'
import { sharedDb } from './support/db.ts'
import { endLease, eventsOf } from './support/leases.ts'
import { givenSkill, newSkill } from './support/skills.ts'
import { claimedTask, workClients } from './support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

interface Held {
  taskId: string
  version: number
  claimId: string
  fencingToken: number
  runId: string
  actionId: string
  messageId: string
  skillId: string
  /** Somebody who may be asked. */
  personId: string
  uploadId: string
}

/** By operation id: a write that the holder of a task may make, with its fence. */
const FENCED: Readonly<Record<string, (held: Held) => CallInput<Route>>> = {
  updateTask: ({ taskId, version, claimId, fencingToken }) => ({
    params: { ref: taskId },
    ifMatch: version,
    body: { title: 'mine', claimId, fencingToken },
  }),
  completeTask: ({ taskId, version, claimId, fencingToken }) => ({
    params: { ref: taskId },
    ifMatch: version,
    body: { claimId, fencingToken },
  }),
  heartbeatClaim: ({ claimId, fencingToken }) => ({
    params: { id: claimId },
    body: { fencingToken },
  }),
  releaseClaim: ({ claimId, fencingToken }) => ({
    params: { id: claimId },
    body: { fencingToken },
  }),
  startRun: ({ taskId, claimId, fencingToken }) => ({
    params: { ref: taskId },
    body: { claimId, fencingToken },
  }),
  recordCheckpoint: ({ runId, fencingToken }) => ({
    params: { id: runId },
    body: { fencingToken, kind: 'progress', data: {} },
  }),
  recordAction: ({ runId, fencingToken }) => ({
    params: { id: runId },
    body: { fencingToken, action: 'tool.shell' },
  }),
  finishAction: ({ runId, actionId, fencingToken }) => ({
    params: { id: runId, actionId },
    body: { fencingToken, status: 'succeeded' },
  }),
  reportUsage: ({ runId, fencingToken }) => ({
    params: { id: runId },
    body: { fencingToken, sequence: 1, lines: [{ model: 'large', input: 10 }] },
  }),
  acknowledgeControlMessage: ({ runId, messageId, fencingToken }) => ({
    params: { id: runId, messageId },
    body: { fencingToken, status: 'rejected' },
  }),
  createChildHandle: ({ runId, fencingToken }) => ({
    params: { id: runId },
    idempotencyKey: randomUUID(),
    body: {
      fencingToken,
      correlationId: 'child',
      title: 'part of it',
      grant: { permissions: ['tasks.claim'] },
    },
  }),
  invokeSkill: ({ skillId, runId, fencingToken }) => ({
    params: { id: skillId },
    body: { runId, fencingToken },
  }),
  suspendRun: ({ runId, fencingToken }) => ({
    params: { id: runId },
    body: { fencingToken, reason: 'waiting' },
  }),
  handOffRun: ({ runId, fencingToken }) => ({
    params: { id: runId },
    idempotencyKey: randomUUID(),
    body: { fencingToken, checkpoint: { data: { summary: 'half done' } } },
  }),
  succeedRun: ({ runId, fencingToken }) => ({
    params: { id: runId },
    body: { fencingToken, completeTask: true },
  }),
  createComment: ({ taskId, runId, fencingToken }) => ({
    params: { ref: taskId },
    body: { body: 'half done', runId, fencingToken },
  }),
  requestApproval: ({ taskId, claimId, fencingToken, personId }) => ({
    body: { taskId, assignedPrincipalId: personId, claimId, fencingToken },
  }),
  beginArtifactUpload: ({ taskId, claimId, fencingToken }) => ({
    body: { ...NOTHING, taskId, claimId, fencingToken },
  }),
  sendArtifactContent: ({ runId, fencingToken }) => ({
    query: { ...NOTHING, sizeBytes: '0', runId, fencingToken: String(fencingToken) },
  }),
  completeArtifactUpload: ({ uploadId, claimId, fencingToken }) => ({
    params: { id: uploadId },
    body: { claimId, fencingToken },
  }),
  createArtifact: ({ runId, fencingToken }) => ({
    body: { type: 'report', name: 'r', runId, fencingToken },
  }),
}

/** Content of no bytes. */
const NOTHING = { sizeBytes: 0, sha256: sha256('') }

/** Nobody else learns whether there is what they change. */
const HIDDEN = new Set(['completeArtifactUpload'])

/** Writes that no run may be going on for; the others need one. */
const WITHOUT_RUN = new Set(['completeTask', 'releaseClaim', 'startRun'])

function takesToken(route: Route): boolean {
  return [route.body, route.query].some((part) =>
    JSON.stringify(z.toJSONSchema(part, { io: 'input', unrepresentable: 'any' })).includes(
      '"fencingToken"',
    ),
  )
}

/** Leases of calls of skills, which are no claims; src/invocations/execute.test.ts tries them. */
const OF_CALLS = /^\/api\/v1\/skill-invocations\//

const fenced = Object.entries<Route>(controlPlaneRoutes).filter(
  ([, route]) => takesToken(route) && !OF_CALLS.test(route.path),
)

/** A task that Ann holds, with a run unless the write forbids one, and Bob who would take it over. */
async function heldByAnn(operationId: string) {
  const { tenant, client: ann } = await admin()
  const { key } = await tenant.caller([
    'tasks.claim',
    'tasks.read',
    'tasks.write',
    'sessions.open',
    'artifacts.write',
    'approvals.manage',
    'skills.invoke',
  ])
  const { ctx: person } = await tenant.caller(['approvals.decide'], 'human')
  const { task, fence, session } = await claimedTask(ann)
  const startsRun = !WITHOUT_RUN.has(operationId)
  const run = startsRun
    ? await call(ann, runs.startRun, { params: { ref: task.id }, body: fence })
    : undefined
  const action =
    run &&
    (await call(ann, recordAction, {
      params: { id: run.id },
      body: { fencingToken: fence.fencingToken, action: 'tool.shell' },
    }))
  const message =
    run &&
    (await call(ann, sendControlMessage, {
      params: { id: run.id },
      idempotencyKey: randomUUID(),
      body: { kind: 'queue', message: 'and then', expectedRunVersion: run.version },
    }))
  const skill = operationId === 'invokeSkill' ? await ownSkill(ann, tenant.ctx.actorId) : undefined
  const body = { ...NOTHING, taskId: task.id, ...fence }
  const upload =
    operationId === 'completeArtifactUpload'
      ? await call(ann, beginArtifactUpload, { body })
      : undefined
  const held = async (): Promise<Held> => {
    const { version } = await call(ann, tasks.getTask, { params: { ref: task.id } })
    const ids = { runId: run?.id ?? '', actionId: action?.id ?? '', messageId: message?.id ?? '' }
    const things = { uploadId: upload?.id ?? '', skillId: skill?.id ?? '' }
    const others = { ...things, personId: person.actorId }
    return { taskId: task.id, version, ...fence, ...ids, ...others }
  }
  return { ctx: tenant.ctx, ann, bob: clientOf(key), held, session }
}

function ownSkill(ann: ClientOptions, principalId: string) {
  return givenSkill(ann, newSkill('deploy'), { principalId })
}

async function takeOver(bob: ClientOptions, taskId: string): Promise<void> {
  const session = await call(bob, sessions.openSession, { body: { clientName: 'bob' } })
  const claim = await call(bob, claims.claimTask, {
    params: { ref: taskId },
    body: { sessionId: session.id },
  })
  assert.equal(claim.fencingToken, 2)
}

async function codeOf(client: ClientOptions, route: Route, input: CallInput<Route>) {
  const response = await send(client, route, input)
  const text = await response.text()
  return response.ok ? 'ok' : (JSON.parse(text) as { error: { code: string } }).error.code
}

describe('every write made under a claim', () => {
  it('is in the table of this test', () => {
    assert.deepEqual(
      fenced.map(([operationId]) => operationId).toSorted(),
      Object.keys(FENCED).toSorted(),
    )
  })

  for (const [operationId, route] of fenced) {
    const input = FENCED[operationId]
    if (!input) continue

    it(`${operationId} passes while the claim is live`, async () => {
      const { ann, held } = await heldByAnn(operationId)
      assert.equal(await codeOf(ann, route, input(await held())), 'ok')
    })

    it(`${operationId} is refused after a takeover and changes nothing`, async () => {
      const { ctx, ann, bob, held } = await heldByAnn(operationId)
      const { claimId, taskId } = await held()
      await endLease(db, ctx, 'claims', claimId)
      await takeOver(bob, taskId)
      const before = await eventsOf(db, ctx)

      assert.equal(await codeOf(ann, route, input(await held())), 'stale_claim')

      assert.deepEqual([...(await eventsOf(db, ctx))], [...before])
    })

    it(`${operationId} is refused when the lease is over, though nobody took over`, async () => {
      const { ctx, ann, held } = await heldByAnn(operationId)
      const { claimId } = await held()
      await endLease(db, ctx, 'claims', claimId)

      const code = await codeOf(ann, route, input(await held()))

      assert.ok(['stale_claim', 'claim_expired'].includes(code), code)
    })

    it(`${operationId} is refused when the session is over`, async () => {
      const { ctx, ann, held, session } = await heldByAnn(operationId)
      await endLease(db, ctx, 'sessions', session.id)

      const code = await codeOf(ann, route, input(await held()))

      assert.ok(['stale_claim', 'claim_expired'].includes(code), code)
    })

    it(`${operationId} is refused with a token that is not the claim's`, async () => {
      const { ann, held } = await heldByAnn(operationId)
      const wrong = { ...(await held()), fencingToken: 7 }

      assert.equal(await codeOf(ann, route, input(wrong)), 'stale_claim')
    })

    it(`${operationId} is refused to somebody else who learnt the token`, async () => {
      const { bob, held } = await heldByAnn(operationId)

      const refusal = HIDDEN.has(operationId) ? 'not_found' : 'claim_holder_mismatch'
      assert.equal(await codeOf(bob, route, input(await held())), refusal)
    })
  }
})
