import { readdir } from 'node:fs/promises'
import type { TestContext } from 'node:test'
import { createArtifact } from '#artifacts/create-artifact.ts'
import { expireUploads } from '#artifacts/expire-uploads.ts'
import { readContent } from '#artifacts/read-content.ts'
import { sendContent } from '#artifacts/send-content.ts'
import type { Transfer } from '#artifacts/transfer.ts'
import { collectBlobs } from '#blobs/collect.ts'
import { createFolderStore } from '#blobs/folder-store.ts'
import type { NewArtifact } from '#contract/artifacts.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { testTenant } from './ctx.ts'
import { ownDb } from './db.ts'
import { temporaryFolder } from './embedded.ts'
import { announced, chunksOf } from './upload.ts'

/** A tenant with content in a database and a folder of its own, whose collector a test may run. */
export async function keeping(t: TestContext) {
  const db = await ownDb(t, 'control-plane', 'app')
  const folder = await temporaryFolder(t)
  const store = createFolderStore(folder)
  const { ctx } = await testTenant(db)
  const limits = { maxBytes: 1 << 24, ttlSeconds: 3600 }
  const transfer: Transfer = {
    transact: (mode, work) => transaction(db, mode, work),
    store,
    limits,
    stored: () => {},
  }
  return {
    db,
    ctx,
    store,
    transfer,
    send: (bytes: Uint8Array) => sendContent(transfer, ctx, announced(bytes), chunksOf(bytes)),
    publish: (more: Partial<NewArtifact>) => publish(db, ctx, more),
    read: async (id: string) => {
      const content = await transaction(db, 'read only', (sql) => readContent(sql, ctx, id, store))
      const chunks: Uint8Array[] = []
      for await (const chunk of content.read({ start: 0, end: content.sizeBytes })) {
        chunks.push(chunk)
      }
      return new Uint8Array(Buffer.concat(chunks))
    },
    /** One round of what the worker does. */
    collect: async () => {
      await expireUploads(db, 100)
      return await collectBlobs(db, store, 100)
    },
    /** How many files the store has, whole or not. */
    files: async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).length
    },
    letTimePass: (what: Partial<Record<Due, number>>) => letTimePass(db, ctx, what),
  }
}

export type Keeping = Awaited<ReturnType<typeof keeping>>

async function publish(db: Database, ctx: Ctx, more: Partial<NewArtifact>) {
  return await transaction(db, 'read write', (sql) =>
    createArtifact(sql, ctx, { type: 'log', name: 'l', metadata: {}, ...more }),
  )
}

type Due = 'uploads' | 'blobs' | 'objects'

const COLUMNS = {
  uploads: ['artifact_uploads', 'expires_at'],
  blobs: ['blobs', 'collect_after'],
  objects: ['loose_objects', 'remove_after'],
} as const satisfies Record<Due, readonly [string, string]>

/** Lets what is due within these seconds be due now. */
async function letTimePass(
  db: Database,
  { tenantId }: Ctx,
  what: Partial<Record<Due, number>>,
): Promise<void> {
  for (const [name, seconds] of Object.entries(what)) {
    const [table, column] = COLUMNS[name as Due]
    await db`
      update ${db(table)}
      set ${db(column)} = clock_timestamp() - interval '1 millisecond'
      where tenant_id = ${tenantId}
        and ${db(column)} <= clock_timestamp() + make_interval(secs => ${seconds})`
  }
}
