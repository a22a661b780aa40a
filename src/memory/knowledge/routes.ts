import type { Hono } from 'hono'
import { deleteDocument, putDocument } from '#contract/memory.ts'
import { queryEntities, reconcile } from '#contract/memory-reconcile.ts'
import type { Api } from '#http/serve.ts'
import { requireCore } from '../access/caller.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { writeTarget } from '../access/target.ts'
import { deleteDocument as endDocument } from '../documents/delete-document.ts'
import { putDocument as storeDocument } from '../documents/put-document.ts'
import { queryEntities as findEntities } from '../entities/query-entities.ts'
import { withCatalog } from '../packs/with-catalog.ts'
import { piiLabels } from '../pii/protect.ts'
import { reconcile as reconcileSource } from '../reconcile/reconcile.ts'
import { inTurn, serveMemory } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'

/** Documents, snapshots of sources, and what is known of entities. */
export function bindKnowledge(app: Hono, api: Api<MemoryCtx>, parts: MemoryParts): void {
  const { db, packs, settings, writers, meter } = parts
  const { defaultNamespace } = settings

  serveMemory(app, api, putDocument, async (ctx, { body }) => {
    const target = await writeTarget(ctx, defaultNamespace, body)
    const { title, content, chunks, properties } = body
    const labels = settings.piiProtection ? piiLabels(title, content, chunks, properties) : {}
    const document = labels.pii ? { ...body, meta: { ...body.meta, ...labels } } : body
    const { warnings, type, ...result } = await withCatalog(
      parts,
      ctx,
      target.namespace,
      (catalog) => storeDocument(db, { ...target, catalog, document }),
    )
    meter?.stored('document', result.unchanged ? 'unchanged' : 'changed')
    return {
      natural_key: body.natural_key,
      namespace: target.namespace,
      type,
      ...result,
      ...(warnings.length > 0 && { warnings }),
    }
  })

  serveMemory(app, api, deleteDocument, async (ctx, { query }) => {
    const { natural_key: key } = query
    const target = await writeTarget(ctx, defaultNamespace, query)
    const deleted = await inTurn(writers, ctx, target.namespace, () =>
      endDocument(db, ctx, { ...target, key }),
    )
    return { natural_key: key, namespace: target.namespace, ...deleted }
  })

  serveMemory(app, api, reconcile, async (ctx, { body, query }) => {
    requireCore(ctx, settings.coreIdentities)
    // `scope` is the part of the source here, never a namespace.
    const { namespace, allowed_scopes: allowed } = body
    const target = await writeTarget(
      ctx,
      defaultNamespace,
      { namespace, allowed_scopes: allowed },
      query,
    )
    const { reconcileMaxItems: maxItems, reconcileChangesLimit: limit } = settings
    const reconciled = await inTurn(writers, ctx, target.namespace, () =>
      reconcileSource(db, packs, { ...target, body, maxItems, limit }),
    )
    const { opened, closed, superseded, dryRun } = reconciled
    const isChanged = opened + closed + superseded > 0
    if (!dryRun) meter?.stored('snapshot', isChanged ? 'changed' : 'unchanged')
    return reconciled
  })

  serveMemory(app, api, queryEntities, (ctx, { body }) =>
    findEntities(db, ctx, { body, defaultNamespace }),
  )
}
