import { randomUUID } from 'node:crypto'
import { getArtifactContent, createArtifact } from '#contract/artifacts.ts'
import { listEvents } from '#contract/events-api.ts'
import { recordObservation } from '#contract/observations.ts'
import { getMe } from '#contract/org.ts'
import { createTask, getTask, listTasks, updateTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { sendControlMessage } from '#contract/control-messages.ts'
import { connect } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import { orgRoutes } from '#org/routes.ts'
import { workRoutes } from '#work/routes.ts'
import { send } from '#client/client.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { parentRun } from '../support/children.ts'
import { testApp, testClient, TEST_LIMITS } from '../support/client.ts'
import { ask } from './scene.ts'
import type { ErrorCase } from './scene.ts'

const GONE = { maxConnections: 1, appName: 'test' }
const TITLE = { title: 'Rotate the signing keys' }

function faulty(): never {
  throw new Error('a fault of ours, made for this test')
}

/** What any request can get wrong, and what can go wrong with any. */
export const ofRequests = {
  invalid_request: ({ admin }) =>
    ask(admin, createTask, { body: { ...TITLE, colour: 'red' } as never }),
  request_too_large: ({ admin }) =>
    ask(admin, createTask, {
      body: { ...TITLE, description: 'x'.repeat(TEST_LIMITS.defaultBytes) },
    }),
  not_found: ({ admin }) => ask(admin, getTask, { params: { ref: 'TASK-404' } }),
  if_match_required: async ({ admin, make }) => {
    const { id } = await make(createTask, { body: TITLE })
    return ask(admin, updateTask, { params: { ref: id }, body: { priority: 'high' } })
  },
  invalid_if_match: async ({ admin, make }) => {
    const { id } = await make(createTask, { body: TITLE })
    const headers = { 'if-match': '"7"' }
    return ask(admin, updateTask, { params: { ref: id }, body: { priority: 'high' }, headers })
  },
  version_conflict: async ({ admin, make }) => {
    const { id } = await make(createTask, { body: TITLE })
    const change = { params: { ref: id }, ifMatch: 1 }
    await make(updateTask, { ...change, body: { priority: 'high' } })
    return ask(admin, updateTask, { ...change, body: { priority: 'low' } })
  },
  idempotency_key_required: async ({ admin }) => {
    const { params, run } = await parentRun(admin)
    const body = { kind: 'steer', message: 'faster', expectedRunVersion: run.version } as const
    return ask(admin, sendControlMessage, { params, body })
  },
  idempotency_key_reused: async ({ admin, make }) => {
    const idempotencyKey = randomUUID()
    await make(createTask, { idempotencyKey, body: TITLE })
    return ask(admin, createTask, { idempotencyKey, body: { title: 'Another task' } })
  },
  invalid_limit: ({ admin }) => ask(admin, listTasks, { query: { limit: '1000' } }),
  invalid_cursor: ({ admin }) => ask(admin, listTasks, { query: { cursor: 'page-2' } }),
  unsupported_cursor_version: ({ admin }) =>
    ask(admin, listEvents, { query: { after: 'ec9_eyJlIjoxfQ' } }),
  invalid_event_type_filter: ({ admin }) =>
    ask(admin, listEvents, { query: { types: 'Task-Created' } }),
  secret_refused: ({ admin }) =>
    ask(admin, recordObservation, {
      body: { kind: 'finding', content: 'Log in with password=correct-horse-battery' },
    }),
  range_not_satisfiable: async ({ admin, make }) => {
    const body = { type: 'log', name: 'build.log', content: 'done' }
    const { id } = await make(createArtifact, { body })
    return ask(admin, getArtifactContent, { params: { id }, headers: { range: 'bytes=100-' } })
  },
  rate_limited: async ({ db, tenant, make }) => {
    const { id } = await make(createTask, { body: TITLE })
    const app = testApp(db, workRoutes, { maxWaiting: 1 })
    const client = testClient(app, tenant.key)
    const turns = Math.ceil(db.options.max / 2)
    return await db.begin(async (sql) => {
      await lockEntities(sql, tenant.ctx, [{ type: 'task', id }])
      // All but the last wait for the lock or for their turn, however long that takes.
      const change = { params: { ref: id }, ifMatch: 1, body: { priority: 'high' } as const }
      const wishes = Array.from({ length: turns + 2 }, () => send(client, updateTask, change))
      const response = await Promise.race(wishes)
      void Promise.allSettled(wishes)
      return { route: updateTask, response }
    })
  },
  internal_error: ({ tenant, db }) => {
    const app = testApp(db, (hono, deps) => orgRoutes(hono, { ...deps, notify: faulty }))
    const slug = `w-${randomUUID()}`
    return ask(testClient(app, tenant.key), createWorkspace, { body: { slug, name: slug } })
  },
  not_ready: async ({ tenant }) => {
    const gone = connect({ url: 'postgres://nobody@127.0.0.1:1/gone' }, GONE)
    const app = testApp(gone, orgRoutes)
    return ask(testClient(app, tenant.key), getMe)
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
