import { PERMISSIONS, permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import { AppError } from '#lib/errors.ts'

const READ = 'control-plane:read'
const WRITE = 'control-plane:write'
const ADMIN = 'control-plane:admin'

/** True for a permission that the scopes of a token let through. */
function isWithin(scopes: ReadonlySet<string>, permission: Permission): boolean {
  if (scopes.has(ADMIN)) return true
  if (permission.endsWith('.read')) return scopes.has(READ)
  return permission !== 'admin' && scopes.has(WRITE)
}

/**
 * What is left of permissions under the scopes of a token: `:read` lets through what ends in `.read`,
 * `:write` the rest but `admin`, `:admin` everything. Throws `scope_not_granted` for a token with none of
 * the three.
 */
export function withinScopes(
  scopes: ReadonlySet<string>,
  permissions: ReadonlySet<string>,
): Set<Permission> {
  const known = [READ, WRITE, ADMIN]
  if (!known.some((scope) => scopes.has(scope))) {
    throw new AppError('scope_not_granted', 'Cannot act: the token carries no scope of ours', {
      details: { scopes: known },
    })
  }
  const held = PERMISSIONS.filter((name) =>
    scopes.has(ADMIN) ? permissions.has(name) : permits(permissions, name),
  )
  return new Set(held.filter((name) => isWithin(scopes, name)))
}
