import { randomUUID } from 'node:crypto'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { PrincipalKind } from '#contract/org.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Ctx } from '#lib/ctx.ts'
import { authenticate } from '#org/authenticate.ts'
import { strangerCtx } from '#org/authorize.ts'
import { createApiKey } from '#org/create-api-key.ts'
import { createPrincipal } from '#org/create-principal.ts'
import { createTenant } from '#org/create-tenant.ts'

/** A caller with a credential of its own: `ctx` for commands, `key` for requests. */
export interface TestCaller {
  ctx: Ctx
  key: string
}

export interface TestTenant extends TestCaller {
  /** Adds a principal with a key of these permissions; an agent unless told otherwise. */
  caller: (permissions: readonly Permission[], kind?: PrincipalKind) => Promise<TestCaller>
}

/** A new tenant; `ctx` and `key` are its first person's, with `admin`. */
export async function testTenant(db: Database): Promise<TestTenant> {
  const { apiKey } = await transaction(db, 'read write', (sql) => {
    const slug = `t-${randomUUID()}`
    return createTenant(sql, strangerCtx(trace()), { slug, name: slug, displayName: 'Admin' })
  })
  const admin = await callerOf(db, apiKey.key)
  return {
    ...admin,
    caller: (permissions, kind = 'agent') => addCaller(db, admin.ctx, { permissions, kind }),
  }
}

/**
 * The context of a caller: the admin of a new tenant, or a new agent (a person if the permissions ask
 * for one) with just these permissions, in the tenant given or a new one.
 */
export async function testCtx(
  db: Database,
  options: { tenantId?: string; permissions?: readonly Permission[] } = {},
): Promise<Ctx> {
  const { tenantId, permissions = ['admin'] } = options
  const admin =
    tenantId === undefined
      ? (await testTenant(db)).ctx
      : { ...strangerCtx(trace()), tenantId, permissions: new Set(['admin']) }
  if (tenantId === undefined && options.permissions === undefined) return admin
  const forHuman = permissions.some((name) => name === 'admin' || name === 'approvals.decide')
  const kind = forHuman ? 'human' : 'agent'
  return (await addCaller(db, admin, { permissions, kind })).ctx
}

async function addCaller(
  db: Database,
  admin: Ctx,
  { permissions, kind }: { permissions: readonly Permission[]; kind: PrincipalKind },
): Promise<TestCaller> {
  const { key } = await transaction(db, 'read write', async (sql) => {
    const { id } = await createPrincipal(sql, admin, { kind, displayName: `Test ${kind}` })
    const wish = { principalId: id, name: 'test', permissions, expiresAt: null }
    return await createApiKey(sql, admin, wish)
  })
  return await callerOf(db, key)
}

async function callerOf(db: Database, key: string): Promise<TestCaller> {
  return { ctx: await authenticate(db, key, trace()), key }
}

function trace() {
  return { requestId: randomUUID(), correlationId: randomUUID(), traceRunId: randomUUID() }
}
