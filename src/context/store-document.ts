import type { Document } from '#contract/knowledge.ts'
import { deleteDocument as deleteInMemory, putDocument } from '#contract/memory.ts'
import type { Transact } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { askKnowledge, knowledgePlace } from './knowledge.ts'
import type { KnowledgePlace } from './knowledge.ts'
import type { MemoryProvider } from './recall.ts'

interface Deps {
  transact: Transact
  provider: MemoryProvider | null
}

const CODES = { invalid: 'document_invalid', conflict: 'version_conflict' } as const

/**
 * Stores a document in the workspace's tree, or replaces the one of the same key. The journal notes
 * that it was stored, unless memory already held exactly this.
 */
export async function storeDocument(deps: Deps, ctx: Ctx, document: Document) {
  const { workspaceId } = document
  const { place, provider } = await knowledgePlace(deps.transact, ctx, {
    provider: deps.provider,
    workspaceId,
    writes: true,
  })
  const answer = await askKnowledge(provider, ctx, {
    route: putDocument,
    input: { body: bodyOf(document, place) },
    codes: CODES,
  })
  const type = 'knowledge.document_stored'
  if (answer['unchanged'] !== true)
    await record(deps.transact, ctx, { type, place, key: document.key })
  return answer
}

/** Ends a document. A repeat finds nothing and leaves no event. */
export async function deleteDocument(
  deps: Deps,
  ctx: Ctx,
  { workspaceId, key }: { workspaceId: string; key: string },
) {
  const { place, provider } = await knowledgePlace(deps.transact, ctx, {
    provider: deps.provider,
    workspaceId,
    writes: true,
  })
  const answer = await askKnowledge(provider, ctx, {
    route: deleteInMemory,
    input: { query: { namespace: place.namespace, natural_key: key } },
    codes: CODES,
  })
  const type = 'knowledge.document_deleted'
  if (answer['deleted'] === true) await record(deps.transact, ctx, { type, place, key })
  return answer
}

function bodyOf(document: Document, place: KnowledgePlace) {
  const { key, title, type, content, chunks, links, sourcePath, validFrom, meta } = document
  return {
    namespace: place.namespace,
    scopes: [`workspace:${place.workspaceId}`],
    natural_key: key,
    type,
    replace: true,
    ...(title !== undefined && { title }),
    ...(content !== undefined && { content }),
    ...(chunks !== undefined && { chunks }),
    ...(links !== undefined && { links }),
    ...(sourcePath !== undefined && { source_path: sourcePath }),
    ...(validFrom !== undefined && { valid_from: validFrom }),
    ...(meta !== undefined && { meta }),
  }
}

async function record(
  transact: Transact,
  ctx: Ctx,
  done: {
    type: 'knowledge.document_stored' | 'knowledge.document_deleted'
    place: KnowledgePlace
    key: string
  },
): Promise<void> {
  const { type, key } = done
  const { workspaceId, workspaceVersion } = done.place
  await transact('read write', async (sql) => {
    await lockEntities(sql, ctx, [{ type: 'workspace', id: workspaceId }])
    await appendEvent(sql, ctx, {
      type,
      entityType: 'workspace',
      entityId: workspaceId,
      entityVersion: workspaceVersion,
      workspaceId,
      payload: { workspaceId, key },
    })
  })
}
