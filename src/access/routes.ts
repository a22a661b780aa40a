import type { Hono } from 'hono'
import * as delegations from '#contract/delegations.ts'
import * as members from '#contract/members.ts'
import { permits } from '#contract/permissions.ts'
import * as contract from '#contract/roles.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectAncestors, selectWorkspace } from '#org/workspace.sql.ts'
import { addMember } from './add-member.ts'
import { assign } from './assign.ts'
import { selectAssignments } from './assignment.sql.ts'
import type { Grant } from './assignment.sql.ts'
import { selectCapabilities, selectCapability } from './capability.sql.ts'
import { createCapability } from './create-capability.ts'
import { createDelegation } from './create-delegation.ts'
import { createRole } from './create-role.ts'
import { selectDelegations } from './delegation.sql.ts'
import { selectMembers } from './member.sql.ts'
import { removeMember } from './remove-member.ts'
import {
  assignmentReply,
  capabilityReply,
  delegationReply,
  memberReply,
  roleReply,
} from './replies.ts'
import { revokeAssignment } from './revoke-assignment.ts'
import { revokeDelegation } from './revoke-delegation.ts'
import { selectRole, selectRoles } from './role.sql.ts'
import { updateCapability } from './update-capability.ts'
import { updateRole } from './update-role.ts'

/** Roles, capabilities, who has them, members of workspaces, delegations. */
export function accessRoutes(app: Hono, deps: Deps): void {
  bindRoles(app, deps)
  bindCapabilities(app, deps)
  bindAssignments(app, deps)
  bindMembers(app, deps)
  bindDelegations(app, deps)
}

function bindRoles(app: Hono, deps: Deps): void {
  bind(app, deps, contract.createRole, async (sql, ctx, { body }) =>
    roleReply(await createRole(sql, ctx, body)),
  )
  bind(app, deps, contract.listRoles, async (sql, ctx, { query }) => {
    const { workspaceId } = query
    const line = workspaceId && (await selectAncestors(sql, ctx, workspaceId))
    if (line) found(line[0], 'workspace', workspaceId)
    const page = pageRequest(`roles?workspace=${workspaceId ?? ''}`, query)
    const knownAt = line ? line.map(({ id }) => id) : undefined
    return pageOf(page, await selectRoles(sql, ctx, { page, knownAt }), roleReply)
  })
  bind(app, deps, contract.getRole, async (sql, ctx, { params: { id } }) =>
    roleReply(found(await selectRole(sql, ctx, id), 'role', id)),
  )
  bind(app, deps, contract.updateRole, async (sql, ctx, { params, body, expectedVersion }) =>
    roleReply(await updateRole(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function bindCapabilities(app: Hono, deps: Deps): void {
  bind(app, deps, contract.createCapability, async (sql, ctx, { body }) =>
    capabilityReply(await createCapability(sql, ctx, body)),
  )
  bind(app, deps, contract.listCapabilities, async (sql, ctx, { query }) => {
    const page = pageRequest('capabilities', query)
    return pageOf(page, await selectCapabilities(sql, ctx, page), capabilityReply)
  })
  bind(app, deps, contract.getCapability, async (sql, ctx, { params: { id } }) =>
    capabilityReply(found(await selectCapability(sql, ctx, id), 'capability', id)),
  )
  bind(app, deps, contract.updateCapability, async (sql, ctx, { params, body, expectedVersion }) =>
    capabilityReply(await updateCapability(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function bindAssignments(app: Hono, deps: Deps): void {
  bind(app, deps, contract.assignRole, async (sql, ctx, { params, body }) =>
    give(sql, ctx, { kind: 'role', ...params, ...body }),
  )
  bind(app, deps, contract.revokeRole, async (sql, ctx, { params, body }) => ({
    revoked: await revokeAssignment(sql, ctx, { kind: 'role', ...params, ...body }),
  }))
  bind(app, deps, contract.assignCapability, async (sql, ctx, { params, body }) =>
    give(sql, ctx, { kind: 'capability', ...params, ...body }),
  )
  bind(app, deps, contract.revokeCapability, async (sql, ctx, { params, body }) => ({
    revoked: await revokeAssignment(sql, ctx, { kind: 'capability', ...params, ...body }),
  }))
  bind(app, deps, contract.listRoleAssignments, async (sql, ctx, { params: { id }, query }) => {
    found(await selectRole(sql, ctx, id), 'role', id)
    return assignments(sql, ctx, { of: { kind: 'role', id }, query })
  })
  bind(
    app,
    deps,
    contract.listCapabilityAssignments,
    async (sql, ctx, { params: { id }, query }) => {
      found(await selectCapability(sql, ctx, id), 'capability', id)
      return assignments(sql, ctx, { of: { kind: 'capability', id }, query })
    },
  )
  bind(
    app,
    deps,
    contract.listPrincipalAssignments,
    async (sql, ctx, { params: { id }, query }) => {
      found(await selectPrincipal(sql, ctx, id), 'principal', id)
      return assignments(sql, ctx, { of: { kind: 'principal', id }, query })
    },
  )
}

async function give(sql: Sql, ctx: Ctx, grant: Grant) {
  const { assignment, isNew } = await assign(sql, ctx, grant)
  return withStatus(isNew ? 201 : 200, assignmentReply(assignment))
}

async function assignments(
  sql: Sql,
  ctx: Ctx,
  {
    of,
    query,
  }: {
    of: Parameters<typeof selectAssignments>[2]['of']
    query: { limit: number; cursor?: string | undefined }
  },
) {
  const page = pageRequest(`assignments/${of.kind}/${of.id}`, query)
  return pageOf(page, await selectAssignments(sql, ctx, { page, of }), assignmentReply)
}

function bindMembers(app: Hono, deps: Deps): void {
  bind(app, deps, members.addMember, async (sql, ctx, { params, body: { principalId } }) => {
    const { member, isNew } = await addMember(sql, ctx, { workspaceId: params.id, principalId })
    return withStatus(isNew ? 201 : 200, memberReply(member))
  })
  bind(app, deps, members.listMembers, async (sql, ctx, { params: { id }, query }) => {
    found(await selectWorkspace(sql, ctx, id), 'workspace', id)
    const page = pageRequest(`members/${id}`, query)
    return pageOf(page, await selectMembers(sql, ctx, { page, workspaceId: id }), memberReply)
  })
  bind(app, deps, members.removeMember, async (sql, ctx, { params: { id, principalId } }) => ({
    removed: await removeMember(sql, ctx, { workspaceId: id, principalId }),
  }))
}

function bindDelegations(app: Hono, deps: Deps): void {
  bind(app, deps, delegations.createDelegation, async (sql, ctx, { body }) => {
    const expiresAt = body.expiresAt === null ? null : new Date(body.expiresAt)
    return delegationReply(await createDelegation(sql, ctx, { ...body, expiresAt }))
  })
  bind(app, deps, delegations.listDelegations, async (sql, ctx, { query }) => {
    const { humanPrincipalId, agentPrincipalId } = query
    const partyId = permits(ctx.permissions, 'delegations.manage') ? undefined : ctx.actorId
    const narrowing = [humanPrincipalId, agentPrincipalId, partyId].join('&')
    const page = pageRequest(`delegations?${narrowing}`, query)
    const filter = { page, humanPrincipalId, agentPrincipalId, partyId }
    return pageOf(page, await selectDelegations(sql, ctx, filter), delegationReply)
  })
  bind(app, deps, delegations.revokeDelegation, async (sql, ctx, { params }) =>
    delegationReply(await revokeDelegation(sql, ctx, params)),
  )
}
