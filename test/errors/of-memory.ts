import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { getContext } from '#contract/context.ts'
import { streamEvents, streamEventsBySocket } from '#contract/event-stream.ts'
import { listEvents } from '#contract/events-api.ts'
import { archiveJournal, pruneJournal } from '#contract/journal-operations.ts'
import { queryEntities, reconcileSnapshot, storeDocument } from '#contract/knowledge.ts'
import { putKnowledgePacks, registerKnowledgePack } from '#contract/knowledge-packs.ts'
import { recordObservation } from '#contract/observations.ts'
import { rebuildAdapter } from '#contract/operations.ts'
import { createTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { send } from '#client/client.ts'
import { encodeCursor } from '#events/cursor.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { contextClient, providerAt } from '../support/context.ts'
import { memoryAnswering } from '../support/fake-memory.ts'
import { fakeServer, reply } from '../support/http-server.ts'
import { waitFor } from '../support/wait.ts'
import { ask } from './scene.ts'
import type { ErrorCase, Scene } from './scene.ts'

const SNAPSHOT = {
  source: 'git',
  scope: 'acme/app',
  snapshotId: 'acme/app@1',
  observedAt: '2026-01-15T10:00:00Z',
  entities: [{ kind: 'file', key: 'file:a' }],
  relations: [],
}
const REASON = { reason: 'the disk is full' }

async function newWorkspace({ make }: Scene): Promise<string> {
  return (await make(createWorkspace, { body: { slug: 'app', name: 'App' } })).id
}

/** Publishes a snapshot while memory answers so. */
function published(status: number, body: object, change: object = {}): ErrorCase {
  return async (scene) => {
    const memory = await memoryAnswering(scene.t, status, body)
    const client = contextClient(scene.db, scene.tenant.key, providerAt(memory.url))
    const workspaceId = await newWorkspace(scene)
    return ask(client, reconcileSnapshot, { body: { ...SNAPSHOT, ...change, workspaceId } })
  }
}

/** Registers a pack of the tenant while memory answers so. */
function registered(status: number, body: object): ErrorCase {
  return async ({ t, db, tenant }) => {
    const memory = await memoryAnswering(t, status, body)
    const client = contextClient(db, tenant.key, providerAt(memory.url))
    const pack = { scope: 'tenant' as const, name: 'sales', version: '1' }
    return ask(client, registerKnowledgePack, { body: pack })
  }
}

/** Chooses packs of a workspace while memory answers so. */
function chosen(packs: string[], status: number, body: object): ErrorCase {
  return async (scene) => {
    const memory = await memoryAnswering(scene.t, status, body)
    const client = contextClient(scene.db, scene.tenant.key, providerAt(memory.url))
    const id = await newWorkspace(scene)
    return ask(client, putKnowledgePacks, { params: { id }, body: { packs } })
  }
}

/** A tenant whose journal has been archived and partly removed; an early cursor and a later one. */
async function pruned({ make }: Scene) {
  for (let tasks = 0; tasks < 4; tasks += 1) await make(createTask, { body: { title: 'a task' } })
  const { items } = await make(listEvents, {})
  const everything = { ...REASON, withoutConsumer: true }
  await make(archiveJournal, { body: everything })
  await make(pruneJournal, { body: { ...everything, maxEvents: 3 } })
  return { early: items[0]?.cursor ?? '' }
}

/** The journal for readers, memory, and what is told to it. */
export const ofMemory = {
  cursor_below_journal_floor: async (scene) => {
    const { early } = await pruned(scene)
    return ask(scene.admin, listEvents, { query: { after: early } })
  },
  restore_detected: ({ admin }) => {
    const after = encodeCursor({ journalEpoch: 1, txId: '7', sequence: '7' })
    return ask(admin, streamEvents, { query: { after } })
  },
  upgrade_required: ({ admin }) => ask(admin, streamEventsBySocket),
  retention_blocked_by_consumer: ({ admin }) => ask(admin, archiveJournal, { body: REASON }),
  cursor_must_not_advance: async ({ db, tenant, admin, make }) => {
    const { tenantId } = tenant.ctx
    await make(createTask, { body: { title: 'a task' } })
    const { nextCursor } = await make(listEvents, {})
    await db`
      insert into event_consumer_cursors (name, tenant_id)
      values ('context-adapter', ${tenantId})`
    const body = { ...REASON, cursor: nextCursor ?? undefined }
    return ask(admin, rebuildAdapter, { params: { tenantId }, body })
  },
  observation_invalid: ({ admin }) =>
    ask(admin, recordObservation, { body: { kind: 'Not a kind', content: 'x' } }),
  invalid_context_request: ({ admin }) =>
    ask(admin, getContext, { body: { anchors: ['not an anchor'] } }),
  memory_disabled: async (scene) => {
    const body = { ...SNAPSHOT, workspaceId: await newWorkspace(scene) }
    return ask(scene.admin, reconcileSnapshot, { body })
  },
  memory_unavailable: published(500, { detail: 'out of disk' }),
  memory_timeout: async ({ t, db, tenant, ...scene }) => {
    const silent = await fakeServer(t, () => {})
    const provider = providerAt(silent.url, { reconcileTimeoutSeconds: 0.1 })
    const body = { workspaceId: await newWorkspace({ t, db, tenant, ...scene }), kinds: ['file'] }
    return ask(contextClient(db, tenant.key, provider), queryEntities, { body })
  },
  snapshot_stale: published(409, { detail: 'newer' }),
  snapshot_invalid: published(422, { errors: [{ loc: 'body.entities.0.key' }] }),
  pack_version_conflict: registered(409, { code: 'pack_version_conflict' }),
  pack_name_conflict: registered(409, { code: 'pack_name_conflict' }),
  kind_conflict: registered(409, { code: 'kind_conflict' }),
  relation_conflict: registered(409, { code: 'relation_conflict' }),
  pack_invalid: registered(400, { errors: [{ loc: 'body.kinds.0.kind' }] }),
  pack_not_found: chosen(['sales@1'], 404, { packages: ['sales@1'] }),
  pack_version_required: chosen(['sales'], 200, {}),
  workspace_not_root: async (scene) => {
    const parentId = await newWorkspace(scene)
    const body = { slug: 'part', name: 'Part', parentId }
    const { id } = await scene.make(createWorkspace, { body })
    const memory = await memoryAnswering(scene.t, 200, {})
    const client = contextClient(scene.db, scene.tenant.key, providerAt(memory.url))
    return ask(client, putKnowledgePacks, { params: { id }, body: { packs: [] } })
  },
  snapshot_empty: published(422, { code: 'snapshot_empty' }, { entities: [] }),
  document_invalid: async (scene) => {
    const memory = await memoryAnswering(scene.t, 422, { errors: [] })
    const client = contextClient(scene.db, scene.tenant.key, providerAt(memory.url))
    const workspaceId = await newWorkspace(scene)
    const body = { workspaceId, key: 'doc:readme', content: '# Read me' }
    return ask(client, storeDocument, { body })
  },
  idempotency_in_flight: async (scene) => {
    const waiting: ServerResponse[] = []
    const memory = await fakeServer(scene.t, (_, response) => waiting.push(response))
    const client = contextClient(scene.db, scene.tenant.key, providerAt(memory.url))
    const body = { ...SNAPSHOT, workspaceId: await newWorkspace(scene) }
    const once = { body, idempotencyKey: randomUUID() }
    const first = send(client, reconcileSnapshot, once)
    await waitFor(() => memory.heard.length === 1)
    const refused = await ask(client, reconcileSnapshot, once)
    for (const response of waiting) reply(response, 200, {})
    await first
    return refused
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
