import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import { createTaskType } from '#contract/task-types.ts'
import type { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { sharedDb } from '../../test/support/db.ts'
import { REVIEWED } from '../../test/support/reviewed-type.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const { admin, clientOf } = workClients(await sharedDb())

const publish = (as: ClientOptions, more: object) =>
  call(as, artifacts.createArtifact, { body: { type: 't', name: 'n', ...more } })

describe('artifacts', () => {
  it('are addresses that can be fetched, without passwords, never what a reader would run', async () => {
    const { client } = await admin()
    for (const uri of [
      'https://ci.example/1',
      'git+ssh://git@example.com/a.git',
      's3://bucket/key',
      'oci://registry.example/app@sha256:0a',
      'urn:isbn:0451450523',
    ]) {
      assert.equal((await publish(client, { uri })).uri, uri)
    }
    for (const uri of [
      'javascript:alert(1)',
      'JaVaScRiPt://example.com/%0aalert(1)',
      'data:text/html,<script>alert(1)</script>',
      'vbscript:x',
      'file:///etc/passwd',
      'blob:https://example.com/1',
      'chrome://settings',
      '//example.com/x',
      'https:',
      'plain words',
      'example.com/x',
    ]) {
      const refused = publish(client, { uri })
      await assert.rejects(refused, (error: AppError) => {
        const [fault] = error.details['errors'] as { loc: string }[]
        assert.deepEqual([error.code, fault?.loc], ['invalid_request', 'body.uri'], uri)
        return true
      })
    }
    await assert.rejects(publish(client, { uri: 'https://me:hunter22@git.example/a.git' }), {
      code: 'secret_refused',
    })
  })

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
      publish(client, { content: 'v', supersedesArtifactId })
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

  it('are one line however many revise at once, and each finds its way to the head', async () => {
    const { client } = await admin()
    const first = await publish(client, { content: '0' })
    const revise = async (content: string, onto: string): Promise<void> => {
      try {
        await publish(client, { content, supersedesArtifactId: onto })
      } catch (error) {
        const { code, details } = error as { code: string; details: { headArtifactId: string } }
        assert.equal(code, 'version_conflict')
        await revise(content, details.headArtifactId)
      }
    }
    const contents = Array.from({ length: 8 }, (_, index) => `${index + 1}`)
    await Promise.all(contents.map((content) => revise(content, first.id)))

    const { items } = await call(client, artifacts.listArtifacts, {})
    const byId = new Map(items.map((item) => [item.id, item]))
    const line = [first.id]
    for (let at = byId.get(first.id)?.supersededByArtifactId; at;) {
      line.push(at)
      const next = byId.get(at)
      assert.equal(next?.supersedesArtifactId, line.at(-2))
      at = next?.supersededByArtifactId
    }
    assert.equal(line.length, 9)
    assert.equal(items.length, 9)
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

  it('of a task are what its type says, in every part but the content', async () => {
    const { client } = await admin()
    const artifactSchema = {
      properties: {
        type: { enum: ['report'] },
        sizeBytes: { maximum: 3 },
        metadata: { properties: { passed: { type: 'integer' } }, required: ['passed'] },
      },
      required: ['mediaType'],
    }
    const type = { ...REVIEWED, key: 'tested', customFieldsSchema: null }
    await call(client, createTaskType, { body: { ...type, artifactSchema } })
    const task = await call(client, tasks.createTask, { body: { title: 't', typeKey: 'tested' } })
    const fits = { taskId: task.id, type: 'report', content: 'abc', metadata: { passed: 3 } }

    await publish(client, fits)
    await publish(client, { type: 'log' })
    for (const [change, loc] of [
      [{ type: 'log' }, 'body.type'],
      [{ content: 'abcd' }, 'body.sizeBytes'],
      [{ content: undefined }, 'body.mediaType'],
      [{ metadata: {} }, 'body.metadata.passed'],
      [{ metadata: { passed: 'sw0rdf1sh' } }, 'body.metadata.passed'],
    ] as const) {
      const refused = publish(client, { ...fits, ...change })
      await assert.rejects(refused, (error: { code: string; details: { errors: unknown[] } }) => {
        assert.equal(error.code, 'invalid_artifact')
        const [first] = error.details.errors as { loc: string }[]
        assert.equal(first?.loc, loc)
        assert.ok(!JSON.stringify(error.details).includes('sw0rdf1sh'))
        return true
      })
    }
    const bad = { ...type, artifactSchema: { type: 'nothing' } }
    await assert.rejects(call(client, createTaskType, { body: bad }), { code: 'invalid_task_type' })
  })

  it('declare what their bytes are by the grammar of media types', async () => {
    const { client } = await admin()
    const good = [
      'text/html',
      'Application/vnd.api+json;charset=utf-8',
      'text/plain; title="a; \\"b\\""; x=y',
    ]
    for (const mediaType of good) {
      const { id } = await publish(client, { content: 'x', mediaType })
      const response = await send(client, artifacts.getArtifactContent, { params: { id } })
      assert.equal(response.headers.get('content-type'), mediaType)
      assert.match(response.headers.get('content-disposition') ?? '', /^attachment;/)
    }
    for (const mediaType of [
      'text',
      'text/',
      '/plain',
      'text/plain;',
      'text/plain; a',
      'text/plain; a="b',
      'text/plain\r\nX-Evil: 1',
      'text/plain, text/html',
      'text/plain; a=é',
      `text/${'x'.repeat(128)}`,
    ]) {
      await assert.rejects(publish(client, { content: 'x', mediaType }), {
        code: 'invalid_request',
      })
    }
  })
})
