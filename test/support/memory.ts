import { randomUUID } from 'node:crypto'
import type { Database } from '#db/sql.ts'
import { jsonLog } from '#lib/log.ts'
import { createMemoryApp } from '#memory/app.ts'
import type { MemoryDeps, MemorySettings } from '#memory/serve-memory.ts'

export interface TestMemory {
  /** A namespace that nobody else uses. */
  namespace: string
  /** Answers as the wire does: status and parsed body. */
  post: (path: string, body: unknown, token?: string) => Promise<WireAnswer>
  put: (path: string, body: unknown, token?: string) => Promise<WireAnswer>
  get: (path: string, token?: string) => Promise<WireAnswer>
  delete: (path: string, token?: string) => Promise<WireAnswer>
  fetch: typeof fetch
}

export interface WireAnswer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- what a client that knows no types sees
  body: any
}

export const MEMORY_SETTINGS: MemorySettings = {
  serverApiKey: undefined,
  apiKeys: undefined,
  verifyToken: undefined,
  coreIdentities: null,
  defaultNamespace: 'nexus',
  observationsMaxBatch: 500,
  reconcileMaxItems: 20_000,
  reconcileChangesLimit: 1000,
  contextDefaultMaxTokens: 8000,
  indexMemoryMb: 64,
  llm: undefined,
  synthesizesByDefault: false,
  cacheFolder: undefined,
  maxBodyBytes: 1_048_576,
  maxKnowledgeBytes: 67_108_864,
  checkReplies: true,
}

/** The memory service over the shared database, in a namespace of its own. */
export function testMemory(
  db: Database,
  settings: Partial<MemorySettings> = {},
  deps: Pick<MemoryDeps, 'meter' | 'embedder' | 'reranking'> = {},
): TestMemory {
  const log = jsonLog(
    (line) => process.stderr.write(line),
    () => new Date(),
  )
  const app = createMemoryApp({ db, log, settings: { ...MEMORY_SETTINGS, ...settings }, ...deps })
  const ask = async (method: string, path: string, token?: string, body?: unknown) => {
    const response = await app.request(path, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }
  return {
    namespace: `test:${randomUUID()}`,
    post: (path, body, token) => ask('POST', path, token, body),
    put: (path, body, token) => ask('PUT', path, token, body),
    get: (path, token) => ask('GET', path, token),
    delete: (path, token) => ask('DELETE', path, token),
    fetch: async (input, init) => await app.request(input, init),
  }
}

/** An observation from a chat. */
export const decision = (changes: object = {}) => ({
  source: { system: 'chat', stream: 'main', external_id: 'm-1' },
  kind: 'decision',
  occurred_at: '2026-01-15T10:00:00Z',
  actor: { type: 'principal', id: 'p1' },
  content: 'Migrations are reversible',
  ...changes,
})

/** The source of a chat's message. */
export const external = (number: number) => ({
  source: { system: 'chat', stream: 'main', external_id: `m-${number}` },
})

/** Short ways to write to a new namespace and to look at its tables. */
export function memoryTables(db: Database) {
  const { namespace, post, put, get } = testMemory(db)
  const scope = { namespace }
  return {
    namespace,
    get,
    post,
    put,
    record: (observation: object) => post('/api/memory/observations', { ...observation, scope }),
    batch: (observations: unknown[], more: object = {}) =>
      post('/api/memory/observations:batch', { observations, scope, ...more }),
    rows: async (table: 'observations' | 'nodes' | 'edges' | 'chunks') =>
      await db`
        select t.*
        from ${db(table)} as t
        join namespaces as n on n.id = t.namespace_id
        where n.namespace = ${namespace}
        order by t.item`,
    head: async () => {
      const [row] = await db`select * from namespaces where namespace = ${namespace}`
      return row
    },
  }
}
