import { accessRoutes } from '#access/routes.ts'
import { accountingRoutes } from '#accounting/routes.ts'
import { approvalsRoutes } from '#approvals/routes.ts'
import { artifactsRoutes } from '#artifacts/routes.ts'
import type { ContentOptions } from '#artifacts/routes.ts'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import type { Database } from '#db/sql.ts'
import { orgRoutes } from '#org/routes.ts'
import { runControlRoutes, withChildHandles } from '#run-control/routes.ts'
import { commentsRoutes } from '#comments/routes.ts'
import { goalsRoutes } from '#goals/routes.ts'
import { projectsRoutes } from '#projects/routes.ts'
import { referencesRoutes } from '#references/routes.ts'
import { relationsRoutes } from '#relations/routes.ts'
import { runsRoutes } from '#runs/routes.ts'
import { invocationsRoutes } from '#invocations/routes.ts'
import { skillsRoutes } from '#skills/routes.ts'
import { taskTypesRoutes } from '#task-types/routes.ts'
import { usageRoutes } from '#usage/routes.ts'
import { workRoutes } from '#work/routes.ts'
import { testApp, testClient } from './client.ts'
import { testContent } from './content.ts'
import { testTenant } from './ctx.ts'

/** Clients of an application that serves identity, work, runs and artifacts. */
export function workClients(db: Database, content: ContentOptions = testContent()) {
  const app = testApp(db, (hono, given) => {
    const deps = { ...given, api: withChildHandles(given.api, db) }
    orgRoutes(hono, deps)
    accessRoutes(hono, deps)
    projectsRoutes(hono, deps)
    taskTypesRoutes(hono, deps)
    workRoutes(hono, deps)
    goalsRoutes(hono, deps)
    relationsRoutes(hono, deps)
    commentsRoutes(hono, deps)
    referencesRoutes(hono, deps)
    runsRoutes(hono, deps)
    runControlRoutes(hono, deps)
    artifactsRoutes(hono, deps, content)
    skillsRoutes(hono, deps)
    invocationsRoutes(hono, deps)
    usageRoutes(hono, deps)
    accountingRoutes(hono, deps)
    approvalsRoutes(hono, deps)
  })
  const clientOf = (key: string) => testClient(app, key)
  return {
    clientOf,
    /** The admin of a new tenant. */
    admin: async () => {
      const tenant = await testTenant(db)
      return { tenant, client: clientOf(tenant.key) }
    },
  }
}

/** A new task, claimed for a minute in a new session of the caller. */
export async function claimedTask(client: ClientOptions, place: { workspaceId?: string } = {}) {
  const session = await call(client, sessions.openSession, { body: { clientName: 'test' } })
  const task = await call(client, tasks.createTask, {
    body: { title: 'Write the report', ...place },
  })
  const claim = await call(client, claims.claimTask, {
    params: { ref: task.publicId },
    body: { sessionId: session.id, ttlSeconds: 60, intent: 'draft it' },
  })
  return { session, task, claim, fence: { claimId: claim.id, fencingToken: claim.fencingToken } }
}
