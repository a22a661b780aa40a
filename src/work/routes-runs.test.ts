import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as claims from '#contract/claims.ts'
import * as runs from '#contract/runs.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { newId } from '#lib/id.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const { admin, clientOf } = workClients(await sharedDb())

describe('claims', () => {
  it('are made, shown, renewed and released', async () => {
    const { client, tenant } = await admin()
    const { task, claim, fence, session } = await claimedTask(client)

    assert.equal(claim.fencingToken, 1)
    assert.equal(claim.holderId, tenant.ctx.actorId)
    const params = { id: claim.id }
    assert.deepEqual(await call(client, claims.getClaim, { params }), claim)
    const held = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.equal(held.status, 'in_progress')
    assert.equal(held.activeClaimId, claim.id)
    const { fencingToken } = fence
    const renewed = await call(client, claims.heartbeatClaim, {
      params,
      body: { fencingToken, ttlSeconds: 600 },
    })
    assert.ok(renewed.expiresAt > claim.expiresAt)
    await assert.rejects(call(client, claims.reclaimClaim, { params }), {
      code: 'claim_not_expired',
    })

    const refusal = await send(client, claims.claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    assert.equal(refusal.status, 409)
    const retryAfter = Number(refusal.headers.get('retry-after'))
    assert.ok(retryAfter > 590 && retryAfter <= 600)
    const { error } = (await refusal.json()) as { error: { code: string; details: object } }
    assert.equal(error.code, 'task_already_claimed')
    assert.deepEqual(error.details, {
      holderId: tenant.ctx.actorId,
      expiresAt: renewed.expiresAt,
      retryAfterSeconds: retryAfter,
    })

    const released = await call(client, claims.releaseClaim, { params, body: { fencingToken } })
    assert.equal(released.status, 'released')
    const free = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([free.status, free.activeClaimId], ['open', null])
    await assert.rejects(call(client, claims.releaseClaim, { params, body: { fencingToken } }), {
      code: 'claim_not_active',
    })
    const again = await call(client, claims.claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    assert.equal(again.fencingToken, 2, 'the same owner gets a new token too')
  })

  it('end with their session', async () => {
    const { client } = await admin()
    const { task, claim, session, fence } = await claimedTask(client)
    const run = await call(client, runs.startRun, { params: { ref: task.id }, body: fence })

    await call(client, sessions.closeSession, { params: { id: session.id } })

    const ended = await call(client, claims.getClaim, { params: { id: claim.id } })
    assert.deepEqual([ended.status, ended.endReason], ['released', 'session_closed'])
    const failed = await call(client, runs.getRun, { params: { id: run.id } })
    assert.deepEqual([failed.status, failed.reason], ['failed', 'session_closed'])
    await assert.rejects(
      call(client, claims.claimTask, {
        params: { ref: task.id },
        body: { sessionId: session.id },
      }),
      { code: 'session_not_active' },
    )
  })
})

describe('runs', () => {
  it('start, record how far they are, and complete the task', async () => {
    const { client } = await admin()
    const { task, claim, fence } = await claimedTask(client)
    const { fencingToken } = fence

    const run = await call(client, runs.startRun, {
      params: { ref: task.id },
      body: { ...fence, input: { branch: 'main' }, model: 'small', maxActions: 5 },
    })
    assert.equal(run.attempt, 1)
    assert.deepEqual(run.input, { branch: 'main' })
    const params = { id: run.id }
    await assert.rejects(call(client, runs.startRun, { params: { ref: task.id }, body: fence }), {
      code: 'run_already_active',
    })
    for (const step of [1, 2, 3]) {
      const body = { fencingToken, kind: 'progress', data: { step } }
      const { sequence } = await call(client, runs.recordCheckpoint, { params, body })
      assert.equal(sequence, step)
    }
    const all = await call(client, runs.listCheckpoints, { params })
    assert.deepEqual(
      all.items.map((item) => item.data),
      [{ step: 1 }, { step: 2 }, { step: 3 }],
    )
    const first = await call(client, runs.listCheckpoints, { params, query: { limit: '2' } })
    const cursor = first.nextCursor ?? ''
    const rest = await call(client, runs.listCheckpoints, { params, query: { cursor } })
    assert.deepEqual([...first.items, ...rest.items], all.items)
    await assert.rejects(
      call(client, claims.releaseClaim, { params: { id: claim.id }, body: { fencingToken } }),
      { code: 'run_in_progress' },
    )
    await assert.rejects(
      call(client, tasks.completeTask, { params: { ref: task.id }, ifMatch: 2, body: fence }),
      { code: 'run_in_progress' },
    )

    const done = await call(client, runs.succeedRun, {
      params,
      body: { fencingToken, output: { pages: 3 }, completeTask: true },
    })
    assert.deepEqual([done.status, done.output], ['succeeded', { pages: 3 }])
    const after = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([after.status, after.activeClaimId], ['completed', null])
    await assert.rejects(call(client, runs.succeedRun, { params, body: { fencingToken } }), {
      code: 'run_not_active',
    })
  })

  it('fail and are cancelled without touching the task, and are numbered on', async () => {
    const { client } = await admin()
    const { task, fence } = await claimedTask(client)
    const start = () => call(client, runs.startRun, { params: { ref: task.publicId }, body: fence })

    const first = await start()
    const failed = await call(client, runs.failRun, {
      params: { id: first.id },
      body: { reason: 'the compiler crashed' },
    })
    const second = await start()
    const cancelled = await call(client, runs.cancelRun, { params: { id: second.id } })

    assert.deepEqual([failed.status, failed.reason], ['failed', 'the compiler crashed'])
    assert.deepEqual([cancelled.status, cancelled.attempt], ['cancelled', 2])
    const after = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([after.status, after.activeClaimId], ['in_progress', fence.claimId])
    const list = await call(client, runs.listRuns, { query: { taskId: task.publicId } })
    assert.deepEqual(
      list.items.map((run) => run.attempt),
      [2, 1],
    )
    await assert.rejects(
      call(client, runs.failRun, { params: { id: first.id }, body: { reason: 'again' } }),
      { code: 'run_not_active' },
    )
  })
})

const publish = (as: ClientOptions, more: object) =>
  call(as, artifacts.createArtifact, { body: { type: 't', name: 'n', ...more } })

describe('artifacts', () => {
  it('keep content by what it is and give it back as a harmless download', async () => {
    const { client } = await admin()
    const html = '<script>alert(1)</script>'
    const created = await call(client, artifacts.createArtifact, {
      body: { type: 'report', name: 'отчёт "1".html', content: html, mediaType: 'text/html' },
    })

    const params = { id: created.id }
    assert.equal(created.content?.sizeBytes, html.length)
    assert.deepEqual(await call(client, artifacts.getArtifact, { params }), created)
    const response = await send(client, artifacts.getArtifactContent, { params })
    assert.equal(await response.text(), html)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.match(
      response.headers.get('content-disposition') ?? '',
      /^attachment; filename="_1_.html"/,
    )
    assert.match(response.headers.get('content-security-policy') ?? '', /sandbox/)
    const bytes = await call(client, artifacts.createArtifact, {
      body: { type: 'blob', name: 'b', content: 'AP+A', encoding: 'base64' },
    })
    const raw = await send(client, artifacts.getArtifactContent, { params: { id: bytes.id } })
    assert.deepEqual(new Uint8Array(await raw.arrayBuffer()), new Uint8Array([0, 255, 128]))
    await assert.rejects(
      call(client, artifacts.createArtifact, {
        body: { type: 'blob', name: 'b', content: 'A===', encoding: 'base64' },
      }),
      { code: 'invalid_request' },
    )
    const link = await call(client, artifacts.createArtifact, {
      body: { type: 'link', name: 'l', uri: 'https://example.com/x' },
    })
    await assert.rejects(call(client, artifacts.getArtifact, { params: { id: newId() } }), {
      code: 'not_found',
    })
    const none = await send(client, artifacts.getArtifactContent, { params: { id: link.id } })
    assert.equal(none.status, 404)
  })

  it('form chains with one head', async () => {
    const { client } = await admin()
    const revise = (supersedesArtifactId?: string) =>
      call(client, artifacts.createArtifact, {
        body: { type: 'doc', name: 'd', content: 'v', supersedesArtifactId },
      })
    const first = await revise()
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => revise(first.id)))

    const [head, ...others] = results.flatMap((r) => (r.status === 'fulfilled' ? [r.value] : []))
    assert.ok(head)
    assert.equal(others.length, 0)
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      const { code, details } = result.reason as { code: string; details: object }
      assert.equal(code, 'version_conflict')
      assert.deepEqual(details, { headArtifactId: head.id, status: 409 })
    }
    const heads = await call(client, artifacts.listArtifacts, { query: { headsOnly: 'true' } })
    assert.deepEqual(
      heads.items.map((item) => item.id),
      [head.id],
    )
    const shown = await call(client, artifacts.getArtifact, { params: { id: first.id } })
    assert.equal(shown.supersededByArtifactId, head.id)
  })

  it('of a task come only from its holder while it is claimed', async () => {
    const { client, tenant } = await admin()
    const { task, fence } = await claimedTask(client)
    const { key } = await tenant.caller(['artifacts.write', 'artifacts.read'])
    const other = clientOf(key)

    await assert.rejects(publish(other, { taskId: task.id }), { code: 'task_claimed' })
    await assert.rejects(publish(client, { taskId: task.id }), { code: 'task_claimed' })
    await assert.rejects(publish(other, { taskId: task.id, ...fence }), {
      code: 'claim_holder_mismatch',
    })
    const run = await call(client, runs.startRun, { params: { ref: task.id }, body: fence })
    const { fencingToken } = fence
    const made = await publish(client, { runId: run.id, fencingToken })
    assert.deepEqual([made.taskId, made.runId], [task.id, run.id])
    await assert.rejects(publish(other, { supersedesArtifactId: made.id }), {
      code: 'task_claimed',
    })
    const another = await call(client, tasks.createTask, { body: { title: 'another' } })
    await assert.rejects(publish(client, { taskId: another.id, runId: run.id, fencingToken }), {
      code: 'invalid_request',
    })
    const ofTask = await call(other, artifacts.listArtifacts, { query: { taskId: task.publicId } })
    assert.deepEqual(ofTask.items, [made])
  })
})
