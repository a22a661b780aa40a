import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { createChildHandle } from '#contract/child-handles.ts'
import { claimTask } from '#contract/claims.ts'
import { sendControlMessage } from '#contract/control-messages.ts'
import { getHarnessContext } from '#contract/context.ts'
import { reconcileSnapshot, storeDocument } from '#contract/knowledge.ts'
import { recordObservation } from '#contract/observations.ts'
import * as org from '#contract/org.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import { recordAction } from '#contract/run-actions.ts'
import { assignCapability, assignRole, createCapability, createRole } from '#contract/roles.ts'
import { assignSkill, registerSkill } from '#contract/skills.ts'
import { createDelegation } from '#contract/delegations.ts'
import { createIamBinding } from '#contract/iam.ts'
import { addMember } from '#contract/members.ts'
import { getRun, recordCheckpoint, startRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask, listTasks } from '#contract/tasks.ts'
import { createPriceTable } from '#contract/price-tables.ts'
import { createProjectTemplate } from '#contract/project-templates.ts'
import { createProject } from '#contract/projects.ts'
import { reportUsage } from '#contract/usage-reports.ts'
import { createWorkspaceType } from '#contract/workspace-types.ts'
import * as workspaces from '#contract/workspaces.ts'
import type { Database } from '#db/sql.ts'
import { CONTEXT_ADAPTER } from '#events/consumers.ts'
import type { Ctx } from '#lib/ctx.ts'
import { testClient } from './client.ts'
import { testTenant } from './ctx.ts'
import type { TestTenant } from './ctx.ts'
import { newSkill } from './skills.ts'
import { makeArtifacts } from './world-artifacts.ts'
import { makeCalls } from './world-calls.ts'
import { makeApprovals, makeAroundTasks } from './world-tasks.ts'
import { makeWebhooks } from './world-webhooks.ts'

/** A tenant with one thing of every kind, made through the API like a user would. */
export interface World {
  client: ClientOptions
  /** Its first person. */
  ctx: Ctx
  /** Stands in every name and text of this tenant and nowhere else. */
  marker: string
  /** Every UUID that an answer to this tenant ever held. */
  ids: ReadonlySet<string>
  thing: Things
}

type Things = Awaited<ReturnType<typeof makeThings>> & Awaited<ReturnType<typeof makeWebhooks>>

/** Calls as the tenant and remembers what the answer names. */
export type Make = <R extends Route>(route: R, input: CallInput<R>) => Promise<RouteReply<R>>

/** Worlds differ in how many tasks they have, so that a public id of one is nothing in the other. */
export async function buildWorld(
  db: Database,
  app: Hono,
  tasks: number,
  tenant?: TestTenant,
): Promise<World> {
  const { key, ctx } = tenant ?? (await testTenant(db))
  const client = testClient(app, key)
  const marker = `m${randomBytes(6).toString('hex')}`
  const ids = new Set<string>()
  const make: Make = async (route, input) => {
    const reply = await call(client, route, input)
    for (const id of uuidsIn(JSON.stringify(reply))) ids.add(id)
    return reply
  }
  await db`
    insert into event_consumer_cursors (name, tenant_id)
    values (${CONTEXT_ADAPTER}, ${ctx.tenantId})
    on conflict (name, tenant_id) do nothing`
  const made = await makeThings(make, marker, tasks)
  const place = { db, ctx, marker, workspaceId: made.workspace }
  const thing = { ...made, ...(await makeWebhooks(make, place)) }
  return { client, ctx, marker, ids, thing }
}

export function uuidsIn(text: string): string[] {
  return text.toLowerCase().match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []
}

async function makeThings(make: Make, marker: string, tasks: number) {
  const { tenant } = await make(org.getMe, {})
  const places = await makeOrg(make, marker)
  const access = await makeAccess(make, marker, places)
  const project = await makeProject(make, marker, places.root)
  const work = await makeWork(make, { marker, tasks, workspaceId: places.workspace })
  const published = await makeArtifacts(make, { marker, workspaceId: places.workspace, ...work })
  const around = await makeAroundTasks(make, marker, { ...places, ...work, ...published })
  const approvals = await makeApprovals(make, marker, { ...access, ...work, ...published })
  const knowledge = await makeKnowledge(make, { marker, runId: work.run, ...places })
  await makeUse(make, marker, work)
  const calls = await makeCalls(make, marker, { ...access, ...work })
  const { eventCursor } = await make(getHarnessContext, {})
  return {
    tenantId: tenant.id,
    ...places,
    ...access,
    ...project,
    ...work,
    ...published,
    ...around,
    ...approvals,
    ...knowledge,
    ...calls,
    eventCursor,
  }
}

/** What every world knows something about, so that a question of one could be answered by another. */
export const COMMON = 'quokka'

async function makeKnowledge(
  make: Make,
  { marker, runId, workspace }: { marker: string; runId: string; workspace: string },
) {
  const observation = await make(recordObservation, {
    body: { kind: 'finding', content: `${COMMON} ${marker}`, data: { note: marker }, runId },
  })
  const document = { workspaceId: workspace, key: `doc:${COMMON}` }
  await make(storeDocument, { body: { ...document, content: `About the ${COMMON}: ${marker}` } })
  const snapshot = {
    workspaceId: workspace,
    source: 'git',
    scope: COMMON,
    snapshotId: '1',
    observedAt: '2026-01-15T10:00:00Z',
    entities: [{ kind: 'file', key: `${COMMON}.ts`, title: `${COMMON} ${marker}` }],
    relations: [],
  }
  await make(reconcileSnapshot, { body: snapshot })
  return { observation: observation.id, document, snapshot }
}

async function makeUse(
  make: Make,
  marker: string,
  { run, fence }: { run: string; fence: { fencingToken: number } },
) {
  const model = `model ${marker}`
  const entries = [{ model, input: '2.50', output: '10' }]
  await make(createPriceTable, { body: { currency: 'EUR', entries, comment: marker } })
  const { fencingToken } = fence
  await make(reportUsage, {
    params: { id: run },
    body: { fencingToken, sequence: 1, lines: [{ model, input: 1000, output: 100 }] },
  })
}

async function makeOrg(make: Make, marker: string) {
  const principal = await make(org.createPrincipal, {
    body: { kind: 'agent', displayName: `agent ${marker}` },
  })
  const colleague = await make(org.createPrincipal, {
    body: { kind: 'human', displayName: `person ${marker}` },
  })
  const apiKey = await make(org.createApiKey, {
    params: { id: principal.id },
    body: { name: `key ${marker}`, permissions: ['tasks.read'] },
  })
  const type = await make(createWorkspaceType, {
    body: { key: `type-${marker}`, displayName: `type ${marker}` },
  })
  const root = await make(workspaces.createWorkspace, {
    body: { slug: `root-${marker}`, name: `root ${marker}`, typeKey: type.key },
  })
  const workspace = await make(workspaces.createWorkspace, {
    body: { slug: `leaf-${marker}`, name: `leaf ${marker}`, parentId: root.id },
  })
  const page = await make(workspaces.listWorkspaces, { query: { limit: '1' } })
  return {
    principal: principal.id,
    colleague: colleague.id,
    apiKey: apiKey.id,
    workspaceType: type.key,
    root: root.id,
    workspace: workspace.id,
    workspaceCursor: page.nextCursor ?? '',
  }
}

async function makeProject(make: Make, marker: string, workspaceId: string) {
  const template = await make(createProjectTemplate, {
    body: { key: `template-${marker}`, displayName: `template ${marker}` },
  })
  const project = await make(createProject, {
    body: { workspaceId, templateKey: template.key, config: { note: marker } },
  })
  return {
    template: template.id,
    templateKey: template.key,
    project: project.id,
    projectVersion: project.version,
  }
}

async function makeAccess(
  make: Make,
  marker: string,
  { principal, root, workspace }: { principal: string; root: string; workspace: string },
) {
  const { principal: person } = await make(org.getMe, {})
  const role = await make(createRole, {
    body: { slug: `role-${marker}`, name: `role ${marker}`, workspaceId: root },
  })
  const capability = await make(createCapability, { body: { name: `can-${marker}` } })
  const grant = { principalId: principal, workspaceId: workspace }
  await make(assignRole, { params: { id: role.id }, body: grant })
  await make(assignCapability, { params: { id: capability.id }, body: grant })
  const skill = await make(registerSkill, { body: newSkill(`skill-${marker}`) })
  await make(assignSkill, { params: { id: skill.id }, body: grant })
  await make(assignSkill, { params: { id: skill.id }, body: { principalId: person.id } })
  await make(addMember, { params: { id: workspace }, body: { principalId: principal } })
  const delegation = await make(createDelegation, {
    body: {
      humanPrincipalId: person.id,
      agentPrincipalId: principal,
      permissions: ['tasks.read', 'sessions.open'],
    },
  })
  const binding = await make(createIamBinding, {
    params: { id: principal },
    body: {
      issuer: 'https://issuer.example.org',
      iamPrincipalId: `subject ${marker}`,
      permissions: ['tasks.read'],
    },
  })
  return {
    binding: binding.id,
    person: person.id,
    role: role.id,
    capability: capability.id,
    skill: skill.id,
    skillName: skill.name,
    delegation: delegation.id,
  }
}

async function makeWork(
  make: Make,
  { marker, tasks, workspaceId }: { marker: string; tasks: number; workspaceId: string },
) {
  const addTask = (title: string) =>
    make(createTask, { body: { title: `${title} ${marker}`, workspaceId } })
  const session = await make(openSession, { body: { clientName: `client ${marker}` } })
  const task = await addTask('claimed')
  const claim = await make(claimTask, {
    params: { ref: task.id },
    body: { sessionId: session.id, intent: `intent ${marker}` },
  })
  const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
  const run = await make(startRun, { params: { ref: task.id }, body: fence })
  await make(recordCheckpoint, {
    params: { id: run.id },
    body: { fencingToken: fence.fencingToken, kind: 'progress', data: { note: marker } },
  })
  const action = await make(recordAction, {
    params: { id: run.id },
    body: { fencingToken: fence.fencingToken, action: 'tool.shell', metadata: { note: marker } },
  })
  const { version: expectedRunVersion } = await make(getRun, { params: { id: run.id } })
  const message = await make(sendControlMessage, {
    params: { id: run.id },
    idempotencyKey: `say ${marker}`,
    body: { kind: 'queue', message: marker, expectedRunVersion },
  })
  const child = await make(createChildHandle, {
    params: { id: run.id },
    idempotencyKey: `child ${marker}`,
    body: {
      fencingToken: fence.fencingToken,
      correlationId: 'child',
      title: `child ${marker}`,
      grant: { permissions: ['tasks.claim'] },
    },
  })
  const free = await addTask('free')
  let last = free
  for (let count = 2; count < tasks; count += 1) last = await addTask('more')
  const page = await make(listTasks, { query: { limit: '1' } })
  return {
    session: session.id,
    task: task.id,
    freeTask: free.id,
    lastTask: last.publicId,
    taskCursor: page.nextCursor ?? '',
    fence,
    claim: claim.id,
    run: run.id,
    action: action.id,
    message: message.id,
    child: child.id,
  }
}
