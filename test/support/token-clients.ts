import { accessRoutes } from '#access/routes.ts'
import { artifactsRoutes } from '#artifacts/routes.ts'
import { call } from '#client/client.ts'
import { contextRoutes } from '#context/routes.ts'
import { createIamBinding } from '#contract/iam.ts'
import type { CallInput } from '#client/client.ts'
import type { Decide } from '#authz/policy-decider.ts'
import type { Database } from '#db/sql.ts'
import { createMetrics } from '#observe/metrics.ts'
import { tokenIdentifier } from '#iam/identify-token.ts'
import { iamRoutes } from '#iam/routes.ts'
import { tokenVerifier } from '#lib/jwt.ts'
import type { IssuerSettings } from '#lib/jwt.ts'
import { orgRoutes } from '#org/routes.ts'
import { projectsRoutes } from '#projects/routes.ts'
import { referencesRoutes } from '#references/routes.ts'
import { relationsRoutes } from '#relations/routes.ts'
import { runControlRoutes, withChildHandles } from '#run-control/routes.ts'
import { runsRoutes } from '#runs/routes.ts'
import { workRoutes } from '#work/routes.ts'
import { contextMeter } from '../../src/meters.ts'
import { testApp, testClient } from './client.ts'
import { testContent } from './content.ts'
import { testTenant } from './ctx.ts'

export const BINDINGS = { freshSeconds: 30, staleSeconds: 120 }

/** Clients of an application that accepts access tokens of an issuer beside local keys. */
export function tokenClients(
  db: Database,
  issuer: string,
  options: {
    now?: () => number
    verify?: Partial<IssuerSettings>
    decide?: Decide | undefined
  } = {},
) {
  const settings = { issuer, jwksUrl: undefined, audience: 'control-plane', leewaySeconds: 5 }
  const verify = tokenVerifier({ ...settings, ...options.verify })
  const { now = Date.now } = options
  const identifyToken = tokenIdentifier({ db, verify, bindings: BINDINGS, now })
  const app = testApp(
    db,
    (hono, given) => {
      const deps = { ...given, api: withChildHandles(given.api, db) }
      orgRoutes(hono, deps)
      accessRoutes(hono, deps)
      iamRoutes(hono, deps)
      projectsRoutes(hono, deps)
      workRoutes(hono, deps)
      relationsRoutes(hono, deps)
      runsRoutes(hono, deps)
      runControlRoutes(hono, deps)
      artifactsRoutes(hono, deps, testContent())
      referencesRoutes(hono, deps)
      contextRoutes(hono, deps, { provider: null, metrics: contextMeter(createMetrics()) })
    },
    { identifyToken, decide: options.decide },
  )
  const clientOf = (token: string) => testClient(app, token)
  /** A new tenant with its admin, and a person or agent to whom `subject` is bound. */
  const bound = async (
    subject: string,
    binding: Partial<NonNullable<CallInput<typeof createIamBinding>['body']>> = {},
    kind: 'human' | 'agent' = 'human',
  ) => {
    const tenant = await testTenant(db)
    const admin = clientOf(tenant.key)
    const { ctx } = await tenant.caller(['tasks.read'], kind)
    const made = await call(admin, createIamBinding, {
      params: { id: ctx.actorId },
      body: { issuer, iamPrincipalId: subject, permissions: ['tasks.read'], ...binding },
    })
    return { tenant, admin, principalId: ctx.actorId, binding: made }
  }
  return { clientOf, bound }
}
