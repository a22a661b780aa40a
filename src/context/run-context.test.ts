import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { createArtifact } from '#contract/artifacts.ts'
import { createChildHandle } from '#contract/child-handles.ts'
import * as claims from '#contract/claims.ts'
import { sendControlMessage } from '#contract/control-messages.ts'
import { addRelation } from '#contract/relations.ts'
import { getRunContext } from '#contract/run-context.ts'
import { handOffRun } from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import * as taskTypes from '#contract/task-types.ts'
import * as tasks from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { newId } from '#lib/id.ts'
import { testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { REVIEWED } from '../../test/support/reviewed-type.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()
const app = wholeApp(db, null)

async function admin() {
  const tenant = await testTenant(db)
  return { tenant, client: testClient(app, tenant.key) }
}

async function claimAndStart(client: ClientOptions, ref: string) {
  const session = await call(client, openSession, { body: { clientName: 'test' } })
  const claim = await call(client, claims.claimTask, {
    params: { ref },
    body: { sessionId: session.id },
  })
  const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
  const run = await call(client, runs.startRun, { params: { ref }, body: fence })
  return { claim, run, params: { id: run.id }, fencingToken: fence.fencingToken }
}

/** A task in a workspace, with a first run that was handed off. */
async function handedOff(client: ClientOptions) {
  const workspace = await call(client, createWorkspace, { body: { slug: 'app', name: 'App' } })
  const task = await call(client, tasks.createTask, {
    body: { title: 'Write the parser', workspaceId: workspace.id },
  })
  const { params, fencingToken } = await claimAndStart(client, task.id)
  const checkpoint = { fencingToken, kind: 'progress', data: { step: 1 } }
  await call(client, runs.recordCheckpoint, { params, body: checkpoint })
  await call(client, handOffRun, {
    params,
    idempotencyKey: newId(),
    body: { fencingToken, checkpoint: { data: { summary: 'The lexer is done.' } } },
  })
  return { workspace, task }
}

describe('the context of a run', () => {
  it('tells the next run what earlier ones left', async () => {
    const { client } = await admin()
    const { workspace, task } = await handedOff(client)
    const { claim, run, params, fencingToken } = await claimAndStart(client, task.id)
    const artifact = await call(client, createArtifact, {
      body: { type: 'note', name: 'Plan', content: 'first', runId: run.id, fencingToken },
    })
    const message = await call(client, sendControlMessage, {
      params,
      idempotencyKey: newId(),
      body: { kind: 'steer', message: 'keep it small', expectedRunVersion: run.version },
    })
    const { handleToken: _, ...child } = await call(client, createChildHandle, {
      params,
      idempotencyKey: newId(),
      body: {
        fencingToken,
        correlationId: 'tests',
        title: 'Write the tests',
        grant: { permissions: ['tasks.claim'] },
      },
    })

    const context = await call(client, getRunContext, { params })

    assert.deepEqual(context.run, await call(client, runs.getRun, { params }))
    assert.deepEqual(context.task, await call(client, tasks.getTask, { params: { ref: task.id } }))
    assert.equal(context.workspace?.id, workspace.id)
    assert.deepEqual(context.claim, claim)
    assert.deepEqual(
      context.checkpoints.map(({ attempt, kind }) => [attempt, kind]),
      [
        [1, 'progress'],
        [1, 'handoff'],
      ],
    )
    assert.deepEqual(context.recentArtifacts, [artifact])
    assert.deepEqual(context.pendingControlMessages, [message])
    assert.deepEqual(context.childHandles, [child])
    assert.match(context.eventCursor, /^ec1_/)
  })

  it('names the related tasks, and what those it depends on have produced', async () => {
    const { client, tenant } = await admin()
    const source = await call(client, tasks.createTask, { body: { title: 'Design it' } })
    const part = await call(client, tasks.createTask, { body: { title: 'A part of it' } })
    const task = await call(client, tasks.createTask, { body: { title: 'Build it' } })
    const relate = (ref: string, type: 'depends_on' | 'parent', toTask: string) =>
      call(client, addRelation, { params: { ref }, body: { type, toTask } })
    await relate(task.id, 'depends_on', source.id)
    await relate(part.id, 'parent', task.id)
    const draft = { type: 'design', name: 'Design', content: 'draft', taskId: source.id }
    const first = await call(client, createArtifact, { body: draft })
    const final = await call(client, createArtifact, {
      body: { ...draft, content: 'final', supersedesArtifactId: first.id },
    })
    await call(client, tasks.completeTask, { params: { ref: source.id }, ifMatch: 1 })

    const { params } = await claimAndStart(client, task.id)
    const context = await call(client, getRunContext, { params })

    assert.deepEqual(
      context.relations.map(({ type, direction, taskTitle, taskStatus }) => [
        type,
        direction,
        taskTitle,
        taskStatus,
      ]),
      [
        ['depends_on', 'out', 'Design it', 'completed'],
        ['parent', 'in', 'A part of it', 'open'],
      ],
    )
    assert.deepEqual(context.inputs, [
      {
        key: `${source.publicId}/Design`,
        type: 'design',
        name: 'Design',
        artifactId: final.id,
        sourceTaskId: source.id,
        sourceTaskPublicId: source.publicId,
        relation: 'depends_on',
        mediaType: final.content?.mediaType,
        sizeBytes: 5,
        uri: null,
      },
    ])
    const { key } = await tenant.caller(['tasks.read'])
    const seen = await call(testClient(app, key), getRunContext, { params })
    assert.deepEqual([seen.relations, seen.inputs], [context.relations, []])
  })

  it('shows artifacts to those who may read them', async () => {
    const { client, tenant } = await admin()
    const { task } = await handedOff(client)
    const { run, params, fencingToken } = await claimAndStart(client, task.id)
    await call(client, createArtifact, {
      body: { type: 'note', name: 'Plan', content: 'first', runId: run.id, fencingToken },
    })
    const { key } = await tenant.caller(['tasks.read'])

    const context = await call(testClient(app, key), getRunContext, { params })

    assert.deepEqual(context.recentArtifacts, [])
    assert.equal(context.checkpoints.length, 2)
  })

  it('carries the instructions, and the run remembers which it began with', async () => {
    const { client } = await admin()
    const instructions = 'Ask before you delete anything.'
    const body = { ...REVIEWED, instructions }
    const { key, version } = await call(client, taskTypes.createTaskType, { body })
    const typed = { title: 'Careful work', typeKey: key, customFields: { severity: 'low' } }
    const task = await call(client, tasks.createTask, { body: typed })

    const { run, params } = await claimAndStart(client, task.id)

    const layer = { source: 'taskType', ref: key, version }
    const context = await call(client, getRunContext, { params })
    assert.deepEqual(context.instructions.layers, [{ ...layer, text: instructions }])
    const canonical = `[{"ref":"${key}","source":"taskType","text":"${instructions}","version":${version}}]`
    const hash = createHash('sha256').update(canonical).digest('hex')
    assert.equal(context.instructions.hash, hash)
    assert.deepEqual([run.instructionsHash, run.instructionsRefs], [hash, [layer]])
  })

  it('says so when there are no instructions', async () => {
    const { client } = await admin()
    const { task } = await handedOff(client)
    const { run, params } = await claimAndStart(client, task.id)
    const { instructions } = await call(client, getRunContext, { params })
    assert.deepEqual([instructions.layers, run.instructionsRefs], [[], []])
    assert.equal(instructions.hash, run.instructionsHash)
  })
})
