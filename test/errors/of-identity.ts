import { randomUUID } from 'node:crypto'
import { call } from '#client/client.ts'
import * as access from '#contract/roles.ts'
import * as delegations from '#contract/delegations.ts'
import { createIamBinding } from '#contract/iam.ts'
import * as org from '#contract/org.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask, listTasks } from '#contract/tasks.ts'
import * as types from '#contract/workspace-types.ts'
import * as workspaces from '#contract/workspaces.ts'
import { decisionPoint } from '#authz/decision-point.ts'
import { policyDecider } from '#authz/policy-decider.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { orgRoutes } from '#org/routes.ts'
import { TEST_BOOTSTRAP_TOKEN, testApp, testClient } from '../support/client.ts'
import { ownDb } from '../support/db.ts'
import { startIssuer } from '../support/issuer.ts'
import { tokenClients } from '../support/token-clients.ts'
import { ask } from './scene.ts'
import type { ErrorCase, Scene } from './scene.ts'

const BOOTSTRAP = { slug: 'acme', name: 'Acme' }
const SCOPE = 'control-plane:read'

async function place({ make }: Scene, slug: string, more: object = {}): Promise<string> {
  return (await make(workspaces.createWorkspace, { body: { slug, name: slug, ...more } })).id
}

/** Somebody of an issuer who is bound to a principal here, and the issuer. */
async function tokenHolder({ db, t }: Scene) {
  const subject = `user-${randomUUID()}`
  const issuer = await startIssuer([subject], { t })
  await tokenClients(db, issuer.url).bound(subject)
  return { subject, issuer }
}

/** Who acts, and what they may. */
export const ofIdentity = {
  invalid_credentials: ({ clientOf }) => ask(clientOf('cp_aaaaaaaa_guessed'), org.getMe),
  principal_not_active: async ({ tenant, clientOf, make }) => {
    const { key, ctx } = await tenant.caller(['tasks.read'])
    const params = { id: ctx.actorId }
    await make(org.updatePrincipal, { params, ifMatch: 1, body: { status: 'suspended' } })
    return ask(clientOf(key), listTasks)
  },
  permission_denied: async ({ tenant, clientOf }) => {
    const { key } = await tenant.caller(['tasks.read'])
    return ask(clientOf(key), createTask, { body: { title: 'Rotate the signing keys' } })
  },
  permission_escalation: async ({ tenant, clientOf }) => {
    const { key, ctx } = await tenant.caller(['principals.write', 'tasks.read'])
    const body = { name: 'more', permissions: ['tasks.read', 'tasks.write'] }
    return ask(clientOf(key), org.createApiKey, { params: { id: ctx.actorId }, body })
  },
  invalid_permissions: ({ admin, tenant }) =>
    ask(admin, org.createApiKey, {
      params: { id: tenant.ctx.actorId },
      body: { name: 'k', permissions: ['tasks.fly'] },
    }),
  permissions_not_allowed_for_kind: async ({ admin, make }) => {
    const agent = await make(org.createPrincipal, { body: { kind: 'agent', displayName: 'a' } })
    const body = { name: 'k', permissions: ['approvals.decide'] }
    return ask(admin, org.createApiKey, { params: { id: agent.id }, body })
  },
  last_admin_required: ({ admin, tenant }) =>
    ask(admin, org.updatePrincipal, {
      params: { id: tenant.ctx.actorId },
      ifMatch: 1,
      body: { status: 'disabled' },
    }),
  already_bootstrapped: async ({ t }) => {
    const app = testApp(await ownDb(t, 'control-plane', 'app'), orgRoutes)
    const client = testClient(app, TEST_BOOTSTRAP_TOKEN)
    await call(client, org.bootstrap, { body: BOOTSTRAP })
    return ask(client, org.bootstrap, { body: { slug: 'another', name: 'Another' } })
  },
  bootstrap_disabled: ({ db }) => {
    const app = testApp(db, orgRoutes, { bootstrapToken: undefined })
    return ask(testClient(app, TEST_BOOTSTRAP_TOKEN), org.bootstrap, { body: BOOTSTRAP })
  },
  delegation_required: async ({ tenant, clientOf }) => {
    const { key } = await tenant.caller(['sessions.open'])
    const onBehalfOf = tenant.ctx.actorId
    return ask(clientOf(key), openSession, { body: { clientName: 'agent', onBehalfOf } })
  },
  invalid_delegation: async ({ admin, tenant }) => {
    const agent = await tenant.caller(['tasks.read'])
    const body = {
      humanPrincipalId: agent.ctx.actorId,
      agentPrincipalId: agent.ctx.actorId,
      permissions: ['tasks.read'],
    }
    return ask(admin, delegations.createDelegation, { body })
  },
  role_exists: async ({ admin, make }) => {
    const body = { slug: 'reviewer', name: 'Reviewer' }
    await make(access.createRole, { body })
    return ask(admin, access.createRole, { body })
  },
  capability_exists: async ({ admin, make }) => {
    await make(access.createCapability, { body: { name: 'python' } })
    return ask(admin, access.createCapability, { body: { name: 'python' } })
  },
  assignment_outside_role: async (scene) => {
    const { admin, tenant, make } = scene
    const [here, there] = [await place(scene, 'here'), await place(scene, 'there')]
    const body = { slug: 'lead', name: 'Lead', workspaceId: here }
    const { id } = await make(access.createRole, { body })
    const principalId = tenant.ctx.actorId
    return ask(admin, access.assignRole, {
      params: { id },
      body: { principalId, workspaceId: there },
    })
  },
  iam_binding_exists: async ({ admin, tenant, make }) => {
    const params = { id: tenant.ctx.actorId }
    const identity = { issuer: 'https://id.example.com', iamPrincipalId: randomUUID() }
    const body = { ...identity, permissions: ['tasks.read'] }
    await make(createIamBinding, { params, body })
    return ask(admin, createIamBinding, { params, body })
  },
  scope_not_granted: async (scene) => {
    const { subject, issuer } = await tokenHolder(scene)
    const token = await issuer.token(subject, { audience: 'control-plane', scope: 'other:read' })
    return ask(tokenClients(scene.db, issuer.url).clientOf(token), org.getMe)
  },
  iam_unavailable: async (scene) => {
    const { subject, issuer } = await tokenHolder(scene)
    const token = await issuer.token(subject, { audience: 'control-plane', scope: SCOPE })
    await issuer.close()
    return ask(tokenClients(scene.db, issuer.url).clientOf(token), org.getMe)
  },
  policy_unavailable: async (scene) => {
    const { subject, issuer } = await tokenHolder(scene)
    const point = decisionPoint({
      url: 'http://127.0.0.1:1',
      apiKey: undefined,
      timeoutSeconds: 3,
    })
    const decide = policyDecider({ db: scene.db, point, cacheSeconds: 5 })
    const token = await issuer.token(subject, { audience: 'control-plane', scope: SCOPE })
    return ask(tokenClients(scene.db, issuer.url, { decide }).clientOf(token), listTasks)
  },
  workspace_slug_conflict: async (scene) => {
    await place(scene, 'backend')
    const body = { slug: 'backend', name: 'Backend' }
    return ask(scene.admin, workspaces.createWorkspace, { body })
  },
  workspace_archived: async (scene) => {
    const id = await place(scene, 'old')
    await scene.make(workspaces.archiveWorkspace, { params: { id } })
    return ask(scene.admin, createTask, { body: { title: 'too late', workspaceId: id } })
  },
  workspace_has_active_children: async (scene) => {
    const parentId = await place(scene, 'parent')
    await place(scene, 'child', { parentId })
    return ask(scene.admin, workspaces.archiveWorkspace, { params: { id: parentId } })
  },
  workspace_cycle: async (scene) => {
    const parentId = await place(scene, 'parent')
    const childId = await place(scene, 'child', { parentId })
    const body = { parentId: childId }
    return ask(scene.admin, workspaces.moveWorkspace, { params: { id: parentId }, body })
  },
  workspace_type_exists: async ({ admin, make }) => {
    const body = { key: 'team', displayName: 'Team' }
    await make(types.createWorkspaceType, { body })
    return ask(admin, types.createWorkspaceType, { body })
  },
  invalid_workspace_parent: async (scene) => {
    const body = { key: 'team', displayName: 'Team', allowRoot: false }
    await scene.make(types.createWorkspaceType, { body })
    return ask(scene.admin, workspaces.createWorkspace, {
      body: { slug: 'alone', name: 'Alone', typeKey: 'team' },
    })
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
