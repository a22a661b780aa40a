import { permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { grantable, requireFuture, requirePermission } from '#org/permission.ts'
import { selectPermissionsOf, selectPrincipal } from '#org/principal.sql.ts'
import type { PrincipalRow } from '#org/principal.sql.ts'
import { insertDelegation } from './delegation.sql.ts'
import type { DelegationRow } from './delegation.sql.ts'

export interface NewDelegation {
  humanPrincipalId: string
  agentPrincipalId: string
  permissions: readonly string[]
  /** Null for a delegation that holds until it is revoked. */
  expiresAt: Date | null
}

/**
 * Lets an agent act in the name of a person, within permissions that the person and the caller both have
 * and an agent may have. It gives the agent no right of its own.
 *
 * Throws `not_found`, `invalid_delegation` unless it leads from an active person to an active agent, and
 * what `grantable` throws.
 */
export async function createDelegation(
  sql: Sql,
  ctx: Ctx,
  input: NewDelegation,
): Promise<DelegationRow> {
  requirePermission(ctx, 'delegations.manage')
  const { humanPrincipalId, agentPrincipalId, expiresAt } = input
  const id = newId()
  await lockEntities(sql, ctx, [
    { type: 'delegation', id },
    { type: 'principal', id: humanPrincipalId },
    { type: 'principal', id: agentPrincipalId },
  ])
  const human = found(
    await selectPrincipal(sql, ctx, humanPrincipalId),
    'principal',
    humanPrincipalId,
  )
  const agent = found(
    await selectPrincipal(sql, ctx, agentPrincipalId),
    'principal',
    agentPrincipalId,
  )
  checkParties(human, agent)
  const permissions = grantable(ctx, agent.kind, input.permissions)
  const held = new Set(await selectPermissionsOf(sql, ctx, { id: human.id, whole: true }))
  refuseMissing(permissions, held)
  requireFuture(ctx, expiresAt)
  const delegation = await insertDelegation(sql, ctx, {
    id,
    humanPrincipalId,
    agentPrincipalId,
    permissions,
    expiresAt,
  })
  await appendEvent(sql, ctx, {
    type: 'delegation.created',
    entityType: 'delegation',
    entityId: id,
    entityVersion: 1,
    workspaceId: null,
    payload: { humanPrincipalId, agentPrincipalId, permissions },
  })
  return delegation
}

function checkParties(human: PrincipalRow, agent: PrincipalRow): void {
  const faults = [
    ...(human.kind === 'human' ? [] : [['humanPrincipalId', 'must be a person']]),
    ...(agent.kind === 'agent' ? [] : [['agentPrincipalId', 'must be an agent']]),
    ...(human.status === 'active' ? [] : [['humanPrincipalId', `is ${human.status}`]]),
    ...(agent.status === 'active' ? [] : [['agentPrincipalId', `is ${agent.status}`]]),
  ]
  if (faults.length === 0) return
  const errors = faults.map(([name = '', message = '']) => ({ loc: `body.${name}`, message }))
  throw new AppError(
    'invalid_delegation',
    'Cannot delegate: it leads from an active person to an active agent',
    { details: { errors } },
  )
}

function refuseMissing(permissions: readonly Permission[], held: ReadonlySet<string>): void {
  const missing = permissions.filter((name) => !permits(held, name))
  if (missing.length === 0) return
  throw new AppError(
    'permission_escalation',
    `Cannot delegate ${missing.join(', ')}: not held by the person`,
    { details: { missing } },
  )
}
