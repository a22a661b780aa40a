import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as approvals from '#contract/approvals.ts'
import type { Approval } from '#contract/approvals.ts'
import { createArtifact } from '#contract/artifacts.ts'
import { AGENT_PERMISSIONS } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import { assignRole, createRole } from '#contract/roles.ts'
import * as tasks from '#contract/tasks.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { workClients } from './work.ts'

export interface Someone {
  id: string
  client: ClientOptions
  ctx: Ctx
}

export const DECIDES: readonly Permission[] = ['approvals.read', 'approvals.decide']

/**
 * A tenant whose admin makes the tasks, with an agent that does them and asks, and a person who decides;
 * more of each on demand.
 */
export async function approvalTenant(db: Database) {
  const { admin, clientOf } = workClients(db)
  const { tenant, client } = await admin()
  const add = async (
    permissions: readonly Permission[],
    kind: 'human' | 'agent' = 'human',
  ): Promise<Someone> => {
    const { ctx, key } = await tenant.caller(permissions, kind)
    return { id: ctx.actorId, client: clientOf(key), ctx }
  }
  const agent = await add(AGENT_PERMISSIONS, 'agent')
  const person = await add(DECIDES)
  const ask = (
    body: Partial<approvals.NewApproval>,
    by: ClientOptions = agent.client,
  ): Promise<Approval> => {
    const toSomebody = body.requiredRoleId ?? body.assignedPrincipalId
    const addressee = toSomebody === undefined ? { assignedPrincipalId: person.id } : {}
    return call(by, approvals.requestApproval, { body: { ...addressee, ...body } })
  }
  return { tenant, client, clientOf, add, agent, person, ask }
}

export async function newTaskId(client: ClientOptions, body: Partial<tasks.NewTask> = {}) {
  return (await call(client, tasks.createTask, { body: { title: 'Pay out', ...body } })).id
}

/** Changes a task whatever version it has. */
export async function changeTask(client: ClientOptions, ref: string, body: tasks.TaskChanges) {
  const { version } = await call(client, tasks.getTask, { params: { ref } })
  return await call(client, tasks.updateTask, { params: { ref }, ifMatch: version, body })
}

/** A revision of an artifact, made by the client. */
export async function newRevision(
  client: ClientOptions,
  of: { taskId?: string; supersedesArtifactId?: string } = {},
): Promise<string> {
  const body = { type: 'plan', name: 'Plan', content: crypto.randomUUID(), ...of }
  return (await call(client, createArtifact, { body })).id
}

const VERBS = {
  approve: approvals.approve,
  reject: approvals.reject,
  cancel: approvals.cancelApproval,
}

export function decide(
  by: { client: ClientOptions },
  verb: keyof typeof VERBS,
  id: string,
  comment?: string,
): Promise<Approval> {
  const body = comment === undefined ? {} : { comment }
  return call(by.client, VERBS[verb], { params: { id }, body })
}

/** A role of the tenant or of a workspace, given to whoever is named, there or further down. */
export async function newRole(
  client: ClientOptions,
  holders: readonly string[],
  place: { roleAt?: string; givenAt?: string } = {},
): Promise<string> {
  const { roleAt = null, givenAt = null } = place
  const slug = `r-${crypto.randomUUID()}`
  const { id } = await call(client, createRole, {
    body: { slug, name: slug, workspaceId: roleAt },
  })
  for (const principalId of holders) {
    await call(client, assignRole, {
      params: { id },
      body: { principalId, workspaceId: givenAt },
    })
  }
  return id
}
