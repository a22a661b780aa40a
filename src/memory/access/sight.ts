import { AppError } from '#lib/errors.ts'
import { audienceFor, EVERYTHING, narrowed } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import { requireRight } from './caller.ts'
import type { MemoryCtx, Right } from './caller.ts'

/** How a request narrows what its caller sees; null and absent leave it as it is. */
export interface Narrowing {
  allowed_namespaces?: readonly string[] | null | undefined
  allowed_scopes?: readonly string[] | null | undefined
}

/**
 * What the caller may see or touch inside the namespaces: the one place where this is decided, for every
 * route that shows or changes what is in them. Throws `permission_denied` naming the first namespace that
 * is closed: by the grants, by a decision point, or by the request itself, and when one who acts for others
 * does not say for whom it reads. Throws `policy_unavailable` when there is no decision to be had.
 */
export async function audienceIn(
  ctx: MemoryCtx,
  right: Right,
  names: readonly string[],
  narrowing: Narrowing,
): Promise<Audience> {
  const { allowed_namespaces: namespaces, allowed_scopes: scopes } = narrowing
  const seen = await openTo(ctx, right, names)
  const outside = namespaces ? names.find((name) => !namespaces.includes(name)) : undefined
  if (outside !== undefined) throw closed(right, outside, 'it is not allowed')
  if (right === 'read' && ctx.caller.sight?.by === 'request' && !(namespaces && scopes)) {
    throw new AppError(
      'permission_denied',
      'Cannot read for somebody else: allowed_namespaces and allowed_scopes have to be given',
    )
  }
  return narrowed(seen, audienceFor(scopes))
}

/**
 * Throws as above for a namespace that is closed to the caller, whatever is inside. Alone it is for routes
 * that show nothing of what is inside.
 */
export async function requireOpen(
  ctx: MemoryCtx,
  right: Right,
  names: readonly string[],
): Promise<void> {
  await openTo(ctx, right, names)
}

async function openTo(ctx: MemoryCtx, right: Right, names: readonly string[]): Promise<Audience> {
  requireRight(ctx, right, names)
  const { sight } = ctx.caller
  if (sight?.by !== 'policy') return EVERYTHING
  const { namespaces, audience } = await sight.ask(right, names)
  const hidden = names.find((name) => !namespaces.has(name))
  if (hidden !== undefined) throw closed(right, hidden, 'the decision point does not permit it')
  return audience
}

function closed(right: Right, namespace: string, why: string): AppError {
  return new AppError('permission_denied', `Cannot ${right} namespace "${namespace}": ${why}`, {
    details: { namespace },
  })
}
