import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { testCtx, testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { authenticate } from './authenticate.ts'
import { createApiKey } from './create-api-key.ts'
import { revokeApiKey } from './revoke-api-key.ts'
import { updatePrincipal } from './update-principal.ts'

const db = await sharedDb()
const trace = { requestId: 'r', correlationId: 'c', traceRunId: 't' }
const refused = { code: 'invalid_credentials', message: 'Cannot accept the credential' }

describe('authenticate', () => {
  it('knows the tenant, the principal and the permissions of a key', async () => {
    const tenant = await testTenant(db)
    const agent = await tenant.caller(['tasks.read', 'tasks.claim'])

    const ctx = await authenticate(db, agent.key, trace)

    assert.equal(ctx.tenantId, tenant.ctx.tenantId)
    assert.equal(ctx.actorId, agent.ctx.actorId)
    assert.deepEqual([...ctx.permissions], ['tasks.read', 'tasks.claim'])
    assert.equal(ctx.requestId, 'r')
  })

  it('refuses unknown, malformed and wrong keys alike', async () => {
    const { key } = await testTenant(db)
    const [, prefix] = key.split('_')
    const flipped = key.slice(0, -2) + (key.at(-2) === 'A' ? 'B' : 'A') + key.slice(-1)

    for (const token of [
      '',
      'cp_',
      'nonsense',
      `cp_000000000000_${'A'.repeat(43)}`,
      `cp_${prefix}_`,
      `cp_${prefix}_${'A'.repeat(43)}`,
      `${key}x`,
      flipped,
    ]) {
      await assert.rejects(authenticate(db, token, trace), refused, token)
    }
  })

  it('refuses a revoked key and an expired one like an unknown one', async () => {
    const { ctx } = await testTenant(db)
    const issue = (expiresAt: Date | null) =>
      transaction(db, 'read write', (sql) =>
        createApiKey(sql, ctx, {
          principalId: ctx.actorId,
          name: 'short-lived',
          permissions: ['tasks.read'],
          expiresAt,
        }),
      )
    const revoked = await issue(null)
    await authenticate(db, revoked.key, trace)
    await transaction(db, 'read write', (sql) => revokeApiKey(sql, ctx, revoked))
    const expired = await issue(new Date(Date.now() + 3_600_000))
    await authenticate(db, expired.key, trace)
    await db`
      update api_keys
      set expires_at = now()
      where tenant_id = ${ctx.tenantId}
        and id = ${expired.id}`

    await assert.rejects(authenticate(db, revoked.key, trace), refused)
    await assert.rejects(authenticate(db, expired.key, trace), refused)
  })

  it('tells a suspended or disabled principal apart, but only to who holds its key', async () => {
    const tenant = await testTenant(db)
    const agent = await tenant.caller(['tasks.read'])
    for (const [index, status] of (['suspended', 'disabled'] as const).entries()) {
      await transaction(db, 'read write', (sql) =>
        updatePrincipal(sql, tenant.ctx, {
          id: agent.ctx.actorId,
          expectedVersion: index + 1,
          status,
        }),
      )
      await assert.rejects(authenticate(db, agent.key, trace), {
        code: 'principal_not_active',
        details: { status },
      })
      const [, prefix] = agent.key.split('_')
      await assert.rejects(authenticate(db, `cp_${prefix}_${'A'.repeat(43)}`, trace), refused)
    }
  })

  it('records a use at most once a minute', async () => {
    const ctx = await testCtx(db)
    const { key, id } = await transaction(db, 'read write', (sql) =>
      createApiKey(sql, ctx, {
        principalId: ctx.actorId,
        name: 'seldom',
        permissions: ['tasks.read'],
        expiresAt: null,
      }),
    )
    const lastUsed = async () => {
      const [row] = await db<{ lastUsedAt: Date | null }[]>`
        select last_used_at
        from api_keys
        where tenant_id = ${ctx.tenantId}
          and id = ${id}`
      return row?.lastUsedAt?.getTime()
    }
    const age = (seconds: number) => db`
      update api_keys
      set last_used_at = last_used_at - make_interval(secs => ${seconds})
      where tenant_id = ${ctx.tenantId}
        and id = ${id}`

    assert.equal(await lastUsed(), undefined)
    await authenticate(db, key, trace)
    await age(50)
    const recent = await lastUsed()
    await authenticate(db, key, trace)
    assert.equal(await lastUsed(), recent)
    await age(20)
    const stale = await lastUsed()
    await Promise.all(Array.from({ length: 5 }, () => authenticate(db, key, trace)))
    assert.ok(Number(await lastUsed()) > Number(stale) + 60_000)
  })
})
