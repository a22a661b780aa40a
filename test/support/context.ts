import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import type { ClientOptions } from '#client/client.ts'
import type { MemoryProvider } from '#context/recall.ts'
import { contextRoutes } from '#context/routes.ts'
import { NewTask } from '#contract/tasks.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { createMetrics } from '#observe/metrics.ts'
import { journalRoutes } from '#journal/routes.ts'
import type { Ctx } from '#lib/ctx.ts'
import { createWorkspace } from '#org/create-workspace.ts'
import { startRun } from '#runs/start-run.ts'
import { claimTask } from '#work/claim-task.ts'
import { createTask } from '#work/create-task.ts'
import { openSession } from '#work/open-session.ts'
import { publicIdOf } from '#work/task.ts'
import { contextMeter } from '../../src/meters.ts'
import { testApp, testClient } from './client.ts'
import { testTenant } from './ctx.ts'
import { testStreams } from './streams.ts'
import type { TestTenant } from './ctx.ts'

/** A client of an application with just the context area, holding one credential. */
export function contextClient(
  db: Database,
  key: string,
  provider: MemoryProvider | null = null,
): ClientOptions {
  const metrics = contextMeter(createMetrics())
  return testClient(
    testApp(db, (app, deps) => {
      contextRoutes(app, deps, { provider, metrics })
      journalRoutes(app, deps, { minAgeSeconds: 0, streams: testStreams(db) })
    }),
    key,
  )
}

/** A new tenant with its admin's client. */
export async function contextTenant(
  db: Database,
  provider: MemoryProvider | null = null,
): Promise<TestTenant & { client: ClientOptions }> {
  const tenant = await testTenant(db)
  return { ...tenant, client: contextClient(db, tenant.key, provider) }
}

/** Settings of a memory service at `url`, with the defaults of production. */
export function providerAt(url: string, changes: Partial<MemoryProvider> = {}): MemoryProvider {
  return {
    url,
    apiKey: 'key-of-the-tests',
    namespacePrefix: 'tenant:',
    timeoutSeconds: 3,
    reconcileTimeoutSeconds: 60,
    budget: { defaultTokens: 8000, limitTokens: 16_000 },
    ...changes,
  }
}

/** Adds a workspace and gives its id. */
export async function addWorkspace(
  db: Database,
  ctx: Ctx,
  parentId: string | null = null,
): Promise<string> {
  const slug = `w-${randomUUID()}`
  const { id } = await transaction(db, 'read write', (sql) =>
    createWorkspace(sql, ctx, { slug, name: slug, parentId }),
  )
  return id
}

export async function addTask(
  db: Database,
  ctx: Ctx,
  fields: Partial<z.input<typeof NewTask>> = {},
): Promise<{ id: string; publicId: string }> {
  const { id, number } = await transaction(db, 'read write', (sql) =>
    createTask(sql, ctx, NewTask.parse({ title: 'A task', ...fields })),
  )
  return { id, publicId: publicIdOf(number) }
}

export async function addSession(db: Database, ctx: Ctx): Promise<string> {
  const { id } = await transaction(db, 'read write', (sql) =>
    openSession(sql, ctx, { clientName: 'test', metadata: {}, ttlSeconds: 300 }),
  )
  return id
}

export interface TestRun {
  runId: string
  claimId: string
  sessionId: string
}

/** Claims a task in a new session of the caller and starts a run of it. */
export async function startTask(db: Database, ctx: Ctx, ref: string): Promise<TestRun> {
  const sessionId = await addSession(db, ctx)
  const claim = await transaction(db, 'read write', (sql) =>
    claimTask(sql, ctx, { ref, sessionId, ttlSeconds: 300 }),
  )
  const { id: claimId, fencingToken } = claim
  const run = await transaction(db, 'read write', (sql) =>
    startRun(sql, ctx, { ref, claimId, fencingToken }),
  )
  return { runId: run.id, claimId, sessionId }
}

/** What the journal notes about knowledge of a tenant, oldest first. */
export async function knowledgeEvents(db: Database, tenantId: string) {
  const rows = await db`
    select type, workspace_id, payload
    from events
    where tenant_id = ${tenantId} and type like 'knowledge.%'
    order by sequence`
  return rows.map((row) => ({ ...row }))
}
