import type { Hono } from 'hono'
import * as contract from '#contract/org.ts'
import type { ApiKey, CreatedApiKey, Principal, Tenant } from '#contract/org.ts'
import * as workspaceTypes from '#contract/workspace-types.ts'
import * as workspaces from '#contract/workspaces.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { ControlPlaneApi, Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { createTurns } from '#lib/turns.ts'
import { archiveWorkspace } from './archive-workspace.ts'
import { selectApiKey, selectApiKeys } from './api-key.sql.ts'
import type { ApiKeyRow } from './api-key.sql.ts'
import { authorize } from './authorize.ts'
import type { AuthorizeOptions } from './authorize.ts'
import { bootstrap } from './bootstrap.ts'
import { confirmActor } from './confirm-actor.ts'
import { createApiKey } from './create-api-key.ts'
import { createPrincipal } from './create-principal.ts'
import { createWorkspaceType } from './create-workspace-type.ts'
import { createWorkspace } from './create-workspace.ts'
import { selectPrincipal, selectPrincipals } from './principal.sql.ts'
import type { PrincipalRow } from './principal.sql.ts'
import { workspaceNodeReply, workspaceReply, workspaceTypeReply } from './replies.ts'
import { revokeApiKey } from './revoke-api-key.ts'
import { selectTenant } from './tenant.sql.ts'
import type { TenantRow } from './tenant.sql.ts'
import { updatePrincipal } from './update-principal.ts'
import { updateWorkspaceType } from './update-workspace-type.ts'
import { updateWorkspace } from './update-workspace.ts'
import { selectWorkspaceType, selectWorkspaceTypes } from './workspace-type.sql.ts'
import { selectSubtree, selectWorkspace, selectWorkspaces } from './workspace.sql.ts'
import { treesOf } from './workspace.ts'

/** Bodies that one process receives at once; each takes a few MiB of its memory. */
const TRANSFERS = { each: 16, all: 128 }

/** What the control plane brings to the common pipeline: its callers and its spelling. */
export function createControlPlaneApi(
  options: AuthorizeOptions &
    Pick<ControlPlaneApi, 'limits' | 'checkReplies'> & {
      /** How many requests of one principal may wait for their turn. */
      maxWaiting?: number
    },
): ControlPlaneApi {
  const { db, maxWaiting: waiting = 1000 } = options
  // What one principal asks for at once never takes all the connections of this process.
  const turns = createTurns({ each: Math.ceil(db.options.max / 2), waiting })
  const transfers = createTurns({ ...TRANSFERS, waiting })
  return {
    limits: options.limits,
    checkReplies: options.checkReplies,
    enter: ({ tenantId, actorId }, { transfer }, signal) =>
      (transfer ? transfers : turns).enter(`${tenantId}/${actorId}`, signal),
    rename: (_schema, value) => value,
    identity: ({ tenantId, actorId: principal }) => ({ tenantId, principal }),
    authorize: (request, route, trace) => authorize(options, request, route, trace),
    decide: options.decide,
    confirm: confirmActor,
  }
}

export function orgRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, contract.bootstrap, async (sql, ctx, { body }) => {
    const { tenant, principal, apiKey } = await bootstrap(sql, ctx, body)
    return {
      tenant: tenantReply(tenant),
      principal: principalReply(principal),
      apiKey: createdKeyReply(apiKey),
    }
  })

  bind(app, deps, contract.getMe, async (sql, ctx) => {
    const tenant = found(await selectTenant(sql, ctx), 'tenant', ctx.tenantId)
    const principal = found(await selectPrincipal(sql, ctx, ctx.actorId), 'principal', ctx.actorId)
    const key = ctx.credentialId ? await selectApiKey(sql, ctx, ctx.credentialId) : undefined
    return {
      tenant: tenantReply(tenant),
      principal: principalReply(principal),
      permissions: [...ctx.permissions],
      keyPrefix: key?.prefix ?? null,
      iam: ctx.iam ? { issuer: ctx.iam.issuer, principalId: ctx.iam.principalId } : null,
      workspaceId: ctx.reach?.kind === 'subtree' ? ctx.reach.workspaceId : null,
    }
  })

  bindPrincipals(app, deps)
  bindApiKeys(app, deps)
  bindWorkspaces(app, deps)
  bindWorkspaceTypes(app, deps)
}

function bindPrincipals(app: Hono, deps: Deps): void {
  bind(app, deps, contract.createPrincipal, async (sql, ctx, { body }) =>
    principalReply(await createPrincipal(sql, ctx, body)),
  )

  bind(app, deps, contract.listPrincipals, async (sql, ctx, { query }) => {
    const { kind } = query
    const page = pageRequest(`principals?kind=${kind ?? ''}`, query)
    return pageOf(page, await selectPrincipals(sql, ctx, { page, kind }), principalReply)
  })

  bind(app, deps, contract.getPrincipal, async (sql, ctx, { params: { id } }) =>
    principalReply(found(await selectPrincipal(sql, ctx, id), 'principal', id)),
  )

  bind(app, deps, contract.updatePrincipal, async (sql, ctx, { params, body, expectedVersion }) =>
    principalReply(await updatePrincipal(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function bindApiKeys(app: Hono, deps: Deps): void {
  bind(app, deps, contract.createApiKey, async (sql, ctx, { params, body }) => {
    const expiresAt = body.expiresAt === null ? null : new Date(body.expiresAt)
    const wish = { principalId: params.id, ...body, expiresAt }
    return createdKeyReply(await createApiKey(sql, ctx, wish))
  })

  bind(app, deps, contract.listApiKeys, async (sql, ctx, { params: { id }, query }) => {
    found(await selectPrincipal(sql, ctx, id), 'principal', id)
    const page = pageRequest(`api-keys/${id}`, query)
    return pageOf(page, await selectApiKeys(sql, ctx, { principalId: id, page }), keyReply)
  })

  bind(app, deps, contract.revokeApiKey, async (sql, ctx, { params }) =>
    keyReply(await revokeApiKey(sql, ctx, params)),
  )
}

function bindWorkspaces(app: Hono, deps: Deps): void {
  bind(app, deps, workspaces.createWorkspace, async (sql, ctx, { body }) =>
    workspaceReply(await createWorkspace(sql, ctx, body)),
  )

  bind(app, deps, workspaces.listWorkspaces, async (sql, ctx, { query }) => {
    const { parentId, status } = query
    if (parentId) found(await selectWorkspace(sql, ctx, parentId), 'workspace', parentId)
    const page = pageRequest(`workspaces?parent=${parentId ?? ''}&status=${status ?? ''}`, query)
    const rows = await selectWorkspaces(sql, ctx, { page, parentId, status })
    return pageOf(page, rows, workspaceReply)
  })

  bind(app, deps, workspaces.getWorkspaceTree, async (sql, ctx, { query }) => {
    const { rootId, includeArchived } = query
    const rows = await selectSubtree(sql, ctx, rootId)
    if (rootId) found(rows[0], 'workspace', rootId)
    const shown = rows.filter(
      ({ id, status }) => includeArchived || status === 'active' || id === rootId,
    )
    return { items: treesOf(shown).map(workspaceNodeReply) }
  })

  bind(app, deps, workspaces.getWorkspace, async (sql, ctx, { params: { id } }) =>
    workspaceReply(found(await selectWorkspace(sql, ctx, id), 'workspace', id)),
  )

  bind(app, deps, workspaces.updateWorkspace, async (sql, ctx, { params, body, expectedVersion }) =>
    workspaceReply(await updateWorkspace(sql, ctx, { ...params, ...body, expectedVersion })),
  )

  bind(app, deps, workspaces.archiveWorkspace, async (sql, ctx, { params }) =>
    workspaceReply(await archiveWorkspace(sql, ctx, params)),
  )
}

function bindWorkspaceTypes(app: Hono, deps: Deps): void {
  bind(app, deps, workspaceTypes.createWorkspaceType, async (sql, ctx, { body }) =>
    workspaceTypeReply(await createWorkspaceType(sql, ctx, body)),
  )

  bind(app, deps, workspaceTypes.listWorkspaceTypes, async (sql, ctx, { query }) => {
    const page = pageRequest('workspace-types', query)
    return pageOf(page, await selectWorkspaceTypes(sql, ctx, page), workspaceTypeReply)
  })

  bind(app, deps, workspaceTypes.getWorkspaceType, async (sql, ctx, { params: { key } }) =>
    workspaceTypeReply(found(await selectWorkspaceType(sql, ctx, key), 'workspace type', key)),
  )

  bind(app, deps, workspaceTypes.updateWorkspaceType, async (sql, ctx, input) => {
    const { params, body, expectedVersion } = input
    const patch = { ...params, ...body, expectedVersion }
    return workspaceTypeReply(await updateWorkspaceType(sql, ctx, patch))
  })
}

function tenantReply({ id, slug, name, createdAt }: TenantRow): Tenant {
  return { id, slug, name, createdAt: createdAt.toISOString() }
}

function principalReply(row: PrincipalRow): Principal {
  const { id, kind, displayName, status, version, createdAt } = row
  return { id, kind, displayName, status, version, createdAt: createdAt.toISOString() }
}

function keyReply(row: ApiKeyRow): ApiKey {
  const { id, principalId, name, prefix, permissions } = row
  return {
    id,
    principalId,
    name,
    prefix,
    permissions,
    workspaceId: row.workspaceId,
    breakGlass: row.breakGlassReason !== null,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    lastUsedAt: row.lastUsedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  }
}

function createdKeyReply(row: ApiKeyRow & { key: string }): CreatedApiKey {
  return { ...keyReply(row), key: row.key }
}
