import type { Hono } from 'hono'
import { accessRoutes } from '#access/routes.ts'
import { accountingRoutes } from '#accounting/routes.ts'
import { adapterRoutes } from '#adapter/routes.ts'
import { approvalsRoutes } from '#approvals/routes.ts'
import { artifactsRoutes } from '#artifacts/routes.ts'
import type { ContentOptions } from '#artifacts/routes.ts'
import { contextRoutes } from '#context/routes.ts'
import type { ContextOptions } from '#context/routes.ts'
import { controlPlaneRoutes } from '#contract/all.ts'
import { baseApp, controlPlaneEnvelope } from '#http/app.ts'
import type { Deps } from '#http/bind.ts'
import { docsPage } from '#http/docs-page.ts'
import type { Watch } from '#http/served.ts'
import { openapi } from '#http/openapi.ts'
import { bindProbes } from '#observe/probes.ts'
import type { Probes } from '#observe/probes.ts'
import { journalRoutes } from '#journal/routes.ts'
import type { JournalOptions } from '#journal/routes.ts'
import { iamRoutes } from '#iam/routes.ts'
import { orgRoutes } from '#org/routes.ts'
import { runControlRoutes, withChildHandles } from '#run-control/routes.ts'
import { projectsRoutes } from '#projects/routes.ts'
import { commentsRoutes } from '#comments/routes.ts'
import { goalsRoutes } from '#goals/routes.ts'
import { referencesRoutes } from '#references/routes.ts'
import { relationsRoutes } from '#relations/routes.ts'
import { runsRoutes } from '#runs/routes.ts'
import { invocationsRoutes } from '#invocations/routes.ts'
import { skillsRoutes } from '#skills/routes.ts'
import type { Leases } from '#work/lease.ts'
import { taskTypesRoutes } from '#task-types/routes.ts'
import { usageRoutes } from '#usage/routes.ts'
import { webhooksRoutes } from '#webhooks/routes.ts'
import type { Allowed } from '#webhooks/target.ts'
import { workRoutes } from '#work/routes.ts'

export const API_INFO = {
  title: 'Strata control plane',
  version: '1',
  description:
    'Tasks, leases, runs and the event journal of a fleet of agents, with durable memory beside them.',
}

export interface ControlPlane extends Deps {
  context: ContextOptions
  content: ContentOptions
  journal: JournalOptions
  webhooks: { allowed: Allowed }
  leases: Leases
  watch: Watch
  probes: Probes
}

/** The whole HTTP API of the control plane. Each area adds its routes; this file is the list of areas. */
export function createControlPlane(given: ControlPlane): Hono {
  const deps = { ...given, api: withChildHandles(given.api, given.db) }
  const app = baseApp(deps.log, controlPlaneEnvelope, deps.watch)
  bindProbes(app, deps.probes)
  const document = JSON.stringify(openapi(controlPlaneRoutes, API_INFO))
  app.get('/openapi.json', (c) => c.body(document, 200, { 'content-type': 'application/json' }))
  app.get('/', (c) => c.redirect('/docs'))
  let page: ReturnType<typeof docsPage> | undefined
  app.get('/docs', (c) => {
    c.header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
    return c.html((page ??= docsPage(controlPlaneRoutes, API_INFO)))
  })
  orgRoutes(app, deps)
  accessRoutes(app, deps)
  iamRoutes(app, deps)
  taskTypesRoutes(app, deps)
  projectsRoutes(app, deps)
  workRoutes(app, deps, deps.leases)
  goalsRoutes(app, deps)
  relationsRoutes(app, deps)
  commentsRoutes(app, deps)
  referencesRoutes(app, deps)
  runsRoutes(app, deps)
  runControlRoutes(app, deps)
  usageRoutes(app, deps)
  accountingRoutes(app, deps)
  artifactsRoutes(app, deps, deps.content)
  skillsRoutes(app, deps)
  invocationsRoutes(app, deps)
  approvalsRoutes(app, deps)
  contextRoutes(app, deps, deps.context)
  journalRoutes(app, deps, deps.journal)
  webhooksRoutes(app, deps, deps.webhooks)
  adapterRoutes(app, deps)
  return app
}
