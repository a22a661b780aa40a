import { permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { selectDelegated } from './delegation.sql.ts'

interface Wish {
  /** Who acts. */
  agentId: string
  /** The person in whose name. */
  onBehalfOf: string
  permission: Permission
}

/**
 * Throws `delegation_required` unless the agent holds an active delegation of the person, of an active
 * person, that covers `permission`.
 */
export async function requireDelegation(
  sql: Sql,
  ctx: Tenancy,
  { agentId, onBehalfOf, permission }: Wish,
): Promise<void> {
  const pair = { humanPrincipalId: onBehalfOf, agentPrincipalId: agentId }
  const delegated = await selectDelegated(sql, ctx, pair)
  if (permits(new Set(delegated), permission)) return
  throw new AppError(
    'delegation_required',
    `Cannot act on behalf of "${onBehalfOf}": no active delegation covers "${permission}"`,
    { details: { required: permission } },
  )
}
