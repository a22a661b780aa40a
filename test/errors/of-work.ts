import { randomUUID } from 'node:crypto'
import { call } from '#client/client.ts'
import { approve, reject } from '#contract/approvals.ts'
import { createArtifact } from '#contract/artifacts.ts'
import * as claims from '#contract/claims.ts'
import { addTaskReference, addWorkspaceReference } from '#contract/external-references.ts'
import { addRelation } from '#contract/relations.ts'
import { createCapability } from '#contract/roles.ts'
import * as sessions from '#contract/sessions.ts'
import { createTaskType } from '#contract/task-types.ts'
import * as tasks from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { approvalTenant, newTaskId } from '../support/approvals.ts'
import { endLease } from '../support/leases.ts'
import { projectsOf } from '../support/projects.ts'
import { REVIEWED } from '../support/reviewed-type.ts'
import { claimedTask } from '../support/work.ts'
import { ask } from './scene.ts'
import type { ErrorCase, Scene } from './scene.ts'

const CLIENT = { body: { clientName: 'harness' } }
const WORKER = ['sessions.open', 'tasks.read', 'tasks.claim', 'tasks.write'] as const

async function newTask({ make }: Scene, more: object = {}): Promise<string> {
  return (await make(tasks.createTask, { body: { title: 'Write the report', ...more } })).id
}

async function claiming(scene: Scene, ref: string, sessionId?: string) {
  const id = sessionId ?? (await scene.make(sessions.openSession, CLIENT)).id
  return ask(scene.admin, claims.claimTask, { params: { ref }, body: { sessionId: id } })
}

/** An agent with a session of its own. */
async function worker({ tenant, clientOf }: Scene) {
  const { key, ctx } = await tenant.caller([...WORKER])
  const client = clientOf(key)
  return { client, ctx, sessionId: (await call(client, sessions.openSession, CLIENT)).id }
}

const depends = (toTask: string) => ({ type: 'depends_on' as const, toTask })

/** Sessions, claims and the tasks that are claimed. */
export const ofWork = {
  invalid_harness: ({ admin }) =>
    ask(admin, sessions.openSession, {
      body: { clientName: 'harness', harness: { type: 'My Harness' } },
    }),
  unsupported_protocol_version: ({ admin }) =>
    ask(admin, sessions.openSession, {
      body: { clientName: 'harness', harness: { type: 'harness', protocolVersion: '9' } },
    }),
  session_owner_mismatch: async (scene) => {
    const { sessionId } = await worker(scene)
    return claiming(scene, await newTask(scene), sessionId)
  },
  session_not_active: async (scene) => {
    const { id } = await scene.make(sessions.openSession, CLIENT)
    await scene.make(sessions.closeSession, { params: { id } })
    return claiming(scene, await newTask(scene), id)
  },
  session_expired: async (scene) => {
    const { id } = await scene.make(sessions.openSession, CLIENT)
    await endLease(scene.db, scene.tenant.ctx, 'sessions', id)
    return claiming(scene, await newTask(scene), id)
  },
  task_already_claimed: async (scene) => {
    const { task } = await claimedTask(scene.admin)
    const { client, sessionId } = await worker(scene)
    return ask(client, claims.claimTask, { params: { ref: task.id }, body: { sessionId } })
  },
  task_claimed: async ({ admin }) => {
    const { task } = await claimedTask(admin)
    const body = { status: 'cancelled' }
    return ask(admin, tasks.updateTask, { params: { ref: task.id }, ifMatch: task.version, body })
  },
  claim_holder_mismatch: async (scene) => {
    const { claim, fence } = await claimedTask(scene.admin)
    const { client } = await worker(scene)
    const { fencingToken } = fence
    return ask(client, claims.heartbeatClaim, { params: { id: claim.id }, body: { fencingToken } })
  },
  stale_claim: async ({ db, tenant, admin, make }) => {
    const { task, claim, fence, session } = await claimedTask(admin)
    await endLease(db, tenant.ctx, 'claims', claim.id)
    const body = { sessionId: session.id }
    await make(claims.claimTask, { params: { ref: task.id }, body })
    return ask(admin, createArtifact, {
      body: { type: 'log', name: 'l', taskId: task.id, ...fence },
    })
  },
  claim_expired: async ({ db, tenant, admin }) => {
    const { claim, fence } = await claimedTask(admin)
    await endLease(db, tenant.ctx, 'claims', claim.id)
    const { fencingToken } = fence
    return ask(admin, claims.heartbeatClaim, { params: { id: claim.id }, body: { fencingToken } })
  },
  claim_not_active: async ({ admin, make }) => {
    const { claim, fence } = await claimedTask(admin)
    const { fencingToken } = fence
    const request = { params: { id: claim.id }, body: { fencingToken } }
    await make(claims.releaseClaim, request)
    return ask(admin, claims.heartbeatClaim, request)
  },
  claim_not_expired: async (scene) => {
    const { claim } = await claimedTask(scene.admin)
    const { client } = await worker(scene)
    return ask(client, claims.reclaimClaim, { params: { id: claim.id } })
  },
  task_already_completed: async (scene) => {
    const ref = await newTask(scene)
    await scene.make(tasks.completeTask, { params: { ref }, ifMatch: 1 })
    return ask(scene.admin, tasks.completeTask, { params: { ref }, ifMatch: 2 })
  },
  task_not_claimable: async (scene) => {
    const ref = await newTask(scene)
    await scene.make(tasks.completeTask, { params: { ref }, ifMatch: 1 })
    return claiming(scene, ref)
  },
  task_not_ready: async (scene) => {
    const [ref, first] = [await newTask(scene), await newTask(scene)]
    await scene.make(addRelation, { params: { ref }, body: depends(first) })
    return claiming(scene, ref)
  },
  not_eligible: async (scene) => {
    await scene.make(createCapability, { body: { name: 'python' } })
    const requirements = { roles: [], capabilities: ['python'], skills: [] }
    return claiming(scene, await newTask(scene, { requirements }))
  },
  approval_required: async (scene) => {
    const { workspaceId } = await projectsOf(scene.db, scene.tenant.ctx).place(null, {
      config: { governance: { requireApprovalForCompletion: true } },
    })
    const ref = await newTask(scene, { workspaceId })
    return ask(scene.admin, tasks.completeTask, { params: { ref }, ifMatch: 1 })
  },
  approval_already_decided: async (scene) => {
    const { client, person, ask: request } = await approvalTenant(scene.db)
    const { id } = await request({ taskId: await newTaskId(client) })
    await call(person.client, approve, { params: { id } })
    return ask(person.client, reject, { params: { id } })
  },
  invalid_transition: async (scene) => {
    const params = { ref: await newTask(scene) }
    return ask(scene.admin, tasks.updateTask, { params, ifMatch: 1, body: { status: 'completed' } })
  },
  invalid_task_type: ({ admin }) => {
    const lifecycleSchema = { ...REVIEWED.lifecycleSchema, initialStatus: 'nowhere' }
    return ask(admin, createTaskType, { body: { ...REVIEWED, lifecycleSchema } })
  },
  invalid_custom_fields: async ({ admin, make }) => {
    await make(createTaskType, { body: REVIEWED })
    const customFields = { severity: 'medium' }
    return ask(admin, tasks.createTask, {
      body: { title: 'A bug', typeKey: REVIEWED.key, customFields },
    })
  },
  invalid_artifact: async (scene) => {
    const artifactSchema = { properties: { type: { const: 'report' } } }
    await scene.make(createTaskType, { body: { ...REVIEWED, artifactSchema } })
    const customFields = { severity: 'low' }
    const taskId = await newTask(scene, { typeKey: REVIEWED.key, customFields })
    return ask(scene.admin, createArtifact, { body: { type: 'log', name: 'build.log', taskId } })
  },
  relation_exists: async (scene) => {
    const [ref, toTask] = [await newTask(scene), await newTask(scene)]
    await scene.make(addRelation, { params: { ref }, body: depends(toTask) })
    return ask(scene.admin, addRelation, { params: { ref }, body: depends(toTask) })
  },
  dependency_cycle: async (scene) => {
    const [one, two] = [await newTask(scene), await newTask(scene)]
    await scene.make(addRelation, { params: { ref: one }, body: depends(two) })
    return ask(scene.admin, addRelation, { params: { ref: two }, body: depends(one) })
  },
  external_reference_conflict: async (scene) => {
    const body = { system: 'jira', type: 'issue', externalId: randomUUID() }
    await scene.make(addTaskReference, { params: { ref: await newTask(scene) }, body })
    const { id } = await scene.make(createWorkspace, { body: { slug: 'w', name: 'W' } })
    return ask(scene.admin, addWorkspaceReference, { params: { id }, body })
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
