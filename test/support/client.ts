import type { Hono } from 'hono'
import type { ClientOptions } from '#client/client.ts'
import type { Database } from '#db/sql.ts'
import { baseApp, controlPlaneEnvelope } from '#http/app.ts'
import type { Deps } from '#http/bind.ts'
import { jsonLog } from '#lib/log.ts'
import { createControlPlaneApi } from '#org/routes.ts'

export const TEST_BOOTSTRAP_TOKEN = 'bootstrap-token-of-the-tests'
export const TEST_LIMITS = { defaultBytes: 256 * 1024, knowledgeBytes: 1024 * 1024 }

/** An application of the areas a test needs, in this process, with every reply checked. */
export function testApp(
  db: Database,
  bindAreas: (app: Hono, deps: Deps) => void,
  options: Partial<Parameters<typeof createControlPlaneApi>[0]> = {},
): Hono {
  const log = jsonLog(
    (line) => process.stderr.write(line),
    () => new Date(),
  )
  const app = baseApp(log, controlPlaneEnvelope)
  const api = createControlPlaneApi({
    db,
    limits: TEST_LIMITS,
    checkReplies: true,
    bootstrapToken: TEST_BOOTSTRAP_TOKEN,
    keys: { localKeys: true, breakGlassSeconds: 14_400 },
    ...options,
  })
  bindAreas(app, { db, log, api, notify: () => {} })
  return app
}

/** Calls the application without a port or a network, with the client code of production. */
export function testClient(app: Hono, token: string): ClientOptions {
  return {
    url: 'http://test.invalid',
    token,
    fetch: async (input, init) => await app.request(input, init),
  }
}
