import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { createArtifact } from '#contract/artifacts.ts'
import type { Governance } from '#contract/project-config.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import {
  approvalTenant,
  changeTask,
  decide,
  newRevision,
  newTaskId,
} from '../../test/support/approvals.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow } from '../../test/support/leases.ts'
import { projectsOf } from '../../test/support/projects.ts'

const db = await sharedDb()

/** A task of a project with these rules, held by the agent, and what the agent tries. */
async function heldUnder(governance: Partial<Governance>) {
  const tenant = await approvalTenant(db)
  const { client, agent } = tenant
  const { workspaceId, project } = await projectsOf(db, tenant.tenant.ctx).place(null, {
    config: { governance },
  })
  const taskId = await newTaskId(client, { workspaceId })
  const { id: claimId, fencingToken } = await claimNow(db, agent.ctx, { ref: taskId })
  const fence = { claimId, fencingToken }
  const params = { ref: taskId }
  const start = () => call(agent.client, runs.startRun, { params, body: fence })
  const complete = async () => {
    const { version: ifMatch } = await call(client, tasks.getTask, { params })
    return await call(agent.client, tasks.completeTask, { params, ifMatch, body: fence })
  }
  const asked = async (verb: 'approve' | 'reject', about: object = {}) => {
    const { id } = await tenant.ask({ taskId, ...about })
    await decide(tenant.person, verb, id)
    return id
  }
  return { ...tenant, projectId: project.id, taskId, fence, start, complete, asked }
}

const required = { code: 'approval_required' }

describe('a project that asks for an approval before a run', () => {
  it('has none started before a yes to what the task asks for now', async () => {
    const held = await heldUnder({ requireApprovalForRun: true })
    const { client, ask, person, taskId, projectId, start, asked } = held
    const details = { projectId, governance: 'requireApprovalForRun', status: 409 }
    await assert.rejects(start(), { ...required, details: { ...details, lastDecision: null } })
    const { id } = await ask({ taskId })
    await assert.rejects(start(), required, 'a request is no answer')
    await decide(person, 'approve', id)
    await changeTask(client, taskId, { description: 'Something else' })
    const lastDecision = {
      approvalId: id,
      status: 'approved',
      stale: true,
      isBeforeWork: false,
    }
    await assert.rejects(start(), { ...required, details: { ...details, lastDecision } })
    await asked('approve')
    assert.equal((await start()).attempt, 1)
  })

  it('goes by the last word on the task itself', async () => {
    const { agent, taskId, start, asked } = await heldUnder({ requireApprovalForRun: true })
    const artifactId = await newRevision(agent.client)
    await asked('approve', { taskId: undefined, artifactId })
    await assert.rejects(start(), required, 'an artifact is not the task')
    await asked('approve')
    await asked('reject')
    await assert.rejects(start(), required)
    await asked('approve', { taskId, gate: true })
    assert.equal((await start()).attempt, 1)
  })

  it('lets the task be completed without one', async () => {
    const { complete } = await heldUnder({ requireApprovalForRun: true })
    assert.equal((await complete()).status, 'completed')
  })
})

describe('a project that asks for an approval before completion', () => {
  it('takes a yes to the task when nobody ran it', async () => {
    const { complete, asked } = await heldUnder({ requireApprovalForCompletion: true })
    await assert.rejects(complete(), required)
    await asked('approve')
    assert.equal((await complete()).status, 'completed')
  })

  it('takes no yes to a plan for one to the result', async () => {
    const held = await heldUnder({
      requireApprovalForRun: true,
      requireApprovalForCompletion: true,
    })
    const { agent, fence, start, asked, complete } = held
    await asked('approve')
    const { id } = await start()
    const { fencingToken } = fence
    const succeed = (completeTask: boolean) =>
      call(agent.client, runs.succeedRun, {
        params: { id },
        body: { fencingToken, completeTask },
      })
    await assert.rejects(succeed(true), required)
    assert.equal((await succeed(false)).status, 'succeeded')
    await assert.rejects(complete(), required)
    await asked('approve')
    assert.equal((await complete()).status, 'completed')
  })

  it('takes none to a result that has been revised', async () => {
    const held = await heldUnder({ requireApprovalForCompletion: true })
    const { agent, fence, taskId, asked, complete } = held
    const body = { type: 'report', name: 'Report', content: 'first', taskId, ...fence }
    const { id: artifactId } = await call(agent.client, createArtifact, { body })
    await asked('approve', { artifactId })
    const revised = { ...body, content: 'second', supersedesArtifactId: artifactId }
    const second = await call(agent.client, createArtifact, { body: revised })
    await assert.rejects(complete(), required)
    await asked('approve', { artifactId: second.id })
    assert.equal((await complete()).status, 'completed')
  })
})
