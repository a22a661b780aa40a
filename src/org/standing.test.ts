import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as org from '#contract/org.ts'
import { createTask, listTasks } from '#contract/tasks.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { waitFor } from '../../test/support/wait.ts'
import { workClients } from '../../test/support/work.ts'
import { confirmActor } from './confirm-actor.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

/** Another person who may administer the tenant. */
async function second(tenant: Awaited<ReturnType<typeof admin>>['tenant']) {
  const { key, ctx } = await tenant.caller(['admin'], 'human')
  return { client: clientOf(key), id: ctx.actorId }
}

const suspend = (client: ClientOptions, id: string, status = 'suspended') =>
  codeOf(client, org.updatePrincipal, { params: { id }, ifMatch: 1, body: { status } })

async function keysOf(client: ClientOptions, id: string): Promise<string[]> {
  const { items } = await call(client, org.listApiKeys, { params: { id } })
  return items.map((key) => key.id)
}

/** Holds back the commit of whoever writes this entity while `work` runs. */
async function holding(sql: Database, ctx: Ctx, id: string, work: () => Promise<void>) {
  await transaction(sql, 'read write', async (tx) => {
    await lockEntities(tx, ctx, [{ type: 'principal', id }])
    await work()
  })
}

async function waiters(): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from pg_stat_activity
    where datname = current_database()
      and wait_event_type = 'Lock'
      and wait_event = 'advisory'`
  return row?.count ?? 0
}

describe('the last administrator', () => {
  it('is neither suspended nor disabled, and keeps a key', async () => {
    const { tenant, client } = await admin()
    const id = tenant.ctx.actorId
    assert.equal(await suspend(client, id), 'last_admin_required')
    assert.equal(await suspend(client, id, 'disabled'), 'last_admin_required')
    const [key = ''] = await keysOf(client, id)
    assert.equal(
      await codeOf(client, org.revokeApiKey, { params: { id: key } }),
      'last_admin_required',
    )
    assert.equal((await call(client, org.getMe, {})).principal.status, 'active')
  })

  it('may go once there is another, or another key', async () => {
    const { tenant, client } = await admin()
    const id = tenant.ctx.actorId
    const body = { name: 'spare', permissions: ['admin'] }
    await call(client, org.createApiKey, { params: { id }, body })
    const [, first = ''] = await keysOf(client, id)
    assert.equal(await codeOf(client, org.revokeApiKey, { params: { id: first } }), 'ok')

    const { tenant: other, client: owner } = await admin()
    await second(other)
    assert.equal(await suspend(owner, other.ctx.actorId), 'ok')
  })

  it('is not counted by a key that is limited, ended, or made for an emergency', async () => {
    const { tenant, client } = await admin()
    const { tenantId, actorId } = tenant.ctx
    const other = await second(tenant)
    const [key = ''] = await keysOf(client, other.id)
    for (const change of [
      db`expires_at = clock_timestamp()`,
      db`expires_at = clock_timestamp() + interval '1 hour', break_glass_reason = 'x'`,
    ]) {
      await db`
        update api_keys
        set ${change}
        where tenant_id = ${tenantId}
          and id = ${key}`
      assert.equal(await suspend(client, actorId), 'last_admin_required')
    }
  })

  it('is left when two administrators end each other at the same moment', async () => {
    const { tenant, client } = await admin()
    const other = await second(tenant)
    const codes = await Promise.all([
      suspend(client, other.id),
      suspend(other.client, tenant.ctx.actorId),
    ])
    assert.equal(codes.filter((code) => code === 'ok').length, 1, codes.join())
  })
})

describe('a principal that is suspended while its request runs', () => {
  it('changes nothing', async () => {
    const { tenant, client } = await admin()
    const worker = await tenant.caller(['principals.write'], 'service')
    const target = await call(client, org.createPrincipal, {
      body: { kind: 'agent', displayName: 'before' },
    })
    let writing: Promise<string> | undefined
    await holding(db, tenant.ctx, target.id, async () => {
      writing = codeOf(clientOf(worker.key), org.updatePrincipal, {
        params: { id: target.id },
        ifMatch: 1,
        body: { displayName: 'after' },
      })
      await waitFor(async () => (await waiters()) > 0)
      assert.equal(await suspend(client, worker.ctx.actorId), 'ok')
    })
    assert.equal(await writing, 'principal_not_active')
    const after = await call(client, org.getPrincipal, { params: { id: target.id } })
    assert.equal(after.displayName, 'before')
  })

  it('changes nothing with a key that was revoked meanwhile', async () => {
    const { tenant, client } = await admin()
    const worker = await tenant.caller(['principals.write'], 'service')
    const target = worker.ctx.actorId
    let writing: Promise<string> | undefined
    await holding(db, tenant.ctx, target, async () => {
      const body = { displayName: 'after' }
      writing = codeOf(clientOf(worker.key), org.updatePrincipal, {
        params: { id: target },
        ifMatch: 1,
        body,
      })
      await waitFor(async () => (await waiters()) > 0)
      const id = worker.ctx.credentialId ?? ''
      assert.equal(await codeOf(client, org.revokeApiKey, { params: { id } }), 'ok')
    })
    assert.equal(await writing, 'invalid_credentials')
  })

  it('is told so when it asks again, by what runs long', async () => {
    const { tenant, client } = await admin()
    const worker = await tenant.caller(['tasks.read'])
    await confirmActor(db, worker.ctx)
    await suspend(client, worker.ctx.actorId)
    await assert.rejects(() => confirmActor(db, worker.ctx), { code: 'principal_not_active' })
  })

  it('may give back its own key, and suspend itself', async () => {
    const { tenant } = await admin()
    const worker = await tenant.caller(['principals.write'], 'service')
    const own = clientOf(worker.key)
    assert.equal(await suspend(own, worker.ctx.actorId), 'ok')
    const other = await tenant.caller(['principals.write'], 'service')
    const id = other.ctx.credentialId ?? ''
    assert.equal(await codeOf(clientOf(other.key), org.revokeApiKey, { params: { id } }), 'ok')
    assert.equal(await codeOf(clientOf(other.key), listTasks, {}), 'invalid_credentials')
  })
})

describe('a principal that was suspended', () => {
  it('is let in again only by who could give what its credentials hold', async () => {
    const { tenant, client } = await admin()
    const strong = await tenant.caller(['tasks.write', 'events.read'])
    const manager = clientOf((await tenant.caller(['principals.write', 'tasks.write'])).key)
    const turn = (who: ClientOptions, status: org.PrincipalStatus, ifMatch: number) =>
      codeOf(who, org.updatePrincipal, {
        params: { id: strong.ctx.actorId },
        ifMatch,
        body: { status },
      })
    assert.equal(await turn(manager, 'suspended', 1), 'ok')
    assert.equal(await turn(manager, 'active', 2), 'permission_escalation')
    assert.equal(await turn(manager, 'disabled', 2), 'ok')
    assert.equal(await turn(manager, 'active', 3), 'permission_escalation')
    const { items } = await call(client, org.listApiKeys, { params: { id: strong.ctx.actorId } })
    for (const { id } of items) await call(client, org.revokeApiKey, { params: { id } })
    assert.equal(await turn(manager, 'active', 3), 'ok')
  })

  it('cannot be let in by who holds less, even when it could administer', async () => {
    const { tenant } = await admin()
    const boss = await tenant.caller(['admin'], 'human')
    const manager = clientOf((await tenant.caller(['principals.write'])).key)
    assert.equal(await suspend(manager, boss.ctx.actorId), 'ok')
    const params = { id: boss.ctx.actorId }
    const body = { status: 'active' } as const
    const wake = await codeOf(manager, org.updatePrincipal, { params, ifMatch: 2, body })
    assert.equal(wake, 'permission_escalation')
  })
})

describe('a key that expires', () => {
  it('is refused from that moment on, and for what is being written', async () => {
    const { tenant, client } = await admin()
    const worker = await tenant.caller(['tasks.write', 'tasks.read'])
    const own = clientOf(worker.key)
    assert.equal(await codeOf(own, createTask, { body: { title: 'a' } }), 'ok')
    await db`
      update api_keys
      set expires_at = clock_timestamp()
      where tenant_id = ${tenant.ctx.tenantId}
        and id = ${worker.ctx.credentialId}`
    assert.equal(await codeOf(own, createTask, { body: { title: 'b' } }), 'invalid_credentials')
    await assert.rejects(() => confirmActor(db, worker.ctx), { code: 'invalid_credentials' })
    assert.equal((await call(client, listTasks, {})).items.length, 1)
  })
})
