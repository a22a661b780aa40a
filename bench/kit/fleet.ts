import { randomUUID } from 'node:crypto'
import type { Permission } from '#contract/permissions.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { authenticate } from '#org/authenticate.ts'
import { strangerCtx } from '#org/authorize.ts'
import { createApiKey } from '#org/create-api-key.ts'
import { createPrincipal } from '#org/create-principal.ts'
import { createTenant } from '#org/create-tenant.ts'
import { openSession } from '#work/open-session.ts'

/** An agent at work. */
export interface Agent {
  ctx: Ctx
  key: string
  sessionId: string
}

export interface Fleet {
  admin: { ctx: Ctx; key: string }
  agents: Agent[]
}

const RIGHTS: readonly Permission[] = [
  'sessions.open',
  'tasks.read',
  'tasks.write',
  'tasks.claim',
  'events.read',
]

/** A new tenant with agents of their own keys and sessions. */
export async function newFleet(db: Database, size: number): Promise<Fleet> {
  const { apiKey } = await transaction(db, 'read write', (sql) =>
    createTenant(sql, strangerCtx(trace()), {
      slug: `bench-${randomUUID()}`,
      name: 'Bench',
      displayName: 'Admin',
    }),
  )
  const admin = { ctx: await authenticate(db, apiKey.key, trace()), key: apiKey.key }
  const agents: Agent[] = []
  for (let n = 1; n <= size; n += 1) agents.push(await newAgent(db, admin.ctx, `Agent ${n}`))
  return { admin, agents }
}

async function newAgent(db: Database, admin: Ctx, displayName: string): Promise<Agent> {
  const { key } = await transaction(db, 'read write', async (sql) => {
    const { id } = await createPrincipal(sql, admin, { kind: 'agent', displayName })
    const wish = { principalId: id, name: 'bench', permissions: RIGHTS, expiresAt: null }
    return await createApiKey(sql, admin, wish)
  })
  const ctx = await authenticate(db, key, trace())
  const session = await transaction(db, 'read write', (sql) =>
    openSession(sql, ctx, { clientName: 'bench', metadata: {}, ttlSeconds: SESSION_SECONDS }),
  )
  return { ctx, key, sessionId: session.id }
}

const SESSION_SECONDS = 3600

function trace() {
  return { requestId: randomUUID(), correlationId: randomUUID(), traceRunId: randomUUID() }
}

/** Open tasks, made by one statement and without events. @returns their ids */
export async function newTasks(admin: Database, ctx: Ctx, count: number): Promise<string[]> {
  const rows = await admin<{ id: string }[]>`
    with numbers as (
      insert into task_numbers as n (tenant_id, last_number)
      values (${ctx.tenantId}, ${count})
      on conflict (tenant_id) do update set last_number = n.last_number + ${count}
      returning last_number)
    insert into tasks
      (tenant_id, id, number, title, type_key, type_version, status, status_category, priority,
       created_by)
    select ${ctx.tenantId}, uuidv7(), numbers.last_number - ${count} + n, 'Task', 'default', 1,
           'open', 'open', 'medium', ${ctx.actorId}
    from numbers, generate_series(1, ${count}::int) as n
    returning id`
  return rows.map(({ id }) => id)
}
