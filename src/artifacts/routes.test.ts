import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import { newId } from '#lib/id.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const { admin, clientOf } = workClients(await sharedDb())

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
