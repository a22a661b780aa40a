import type { Hono } from 'hono'
import * as contract from '#contract/memory-brain.ts'
import type { Api } from '#http/serve.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { writeTarget } from '../access/target.ts'
import { readTrail } from '../audit/read-trail.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { consolidate } from '../consolidate.ts'
import { deleteNode } from '../documents/delete-node.ts'
import { keepFact, keepText } from '../documents/keep-note.ts'
import type { Note } from '../documents/keep-note.ts'
import { invalidateFact } from '../graph/invalidate-fact.ts'
import { withCatalog } from '../packs/with-catalog.ts'
import { piiLabels } from '../pii/protect.ts'
import { inTurn, serveMemory } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'

/** Single pieces of knowledge, the trail, and using again what could not be used. */
export function bindBrain(app: Hono, api: Api<MemoryCtx>, parts: MemoryParts): void {
  const { db, settings, writers } = parts
  const { defaultNamespace } = settings

  serveMemory(app, api, contract.retain, async (ctx, { body }) => {
    const target = await writeTarget(ctx, defaultNamespace, body)
    const note = await withCatalog(parts, ctx, target.namespace, (catalog) =>
      keepText(db, ctx, { ...target, catalog, body: labelled(body, settings) }),
    )
    return { retained: true as const, ...replyOf(note, target.namespace, body.type) }
  })

  serveMemory(app, api, contract.putFact, async (ctx, { body }) => {
    const target = await writeTarget(ctx, defaultNamespace, body)
    const note = await withCatalog(parts, ctx, target.namespace, (catalog) =>
      keepFact(db, ctx, { ...target, catalog, body: labelled(body, settings) }),
    )
    return replyOf(note, target.namespace, body.type)
  })

  serveMemory(app, api, contract.invalidateFact, async (ctx, { params: { id }, body }) => {
    const target = await writeTarget(ctx, defaultNamespace, body)
    const { validTo, invalidated } = await inTurn(writers, ctx, target.namespace, () =>
      invalidateFact(db, ctx, { ...target, factId: id, at: body.at, reason: body.reason }),
    )
    return { fact_id: id, namespace: target.namespace, valid_to: validTo, invalidated }
  })

  serveMemory(app, api, contract.deleteNode, async (ctx, { query }) => {
    const { natural_key: key } = query
    const target = await writeTarget(ctx, defaultNamespace, {}, query)
    const deleted = await inTurn(writers, ctx, target.namespace, () =>
      deleteNode(db, ctx, { ...target, key }),
    )
    return { natural_key: key, namespace: target.namespace, deleted: true as const, ...deleted }
  })

  serveMemory(app, api, contract.recordAudit, async (ctx, { body }) => {
    const target = await writeTarget(ctx, defaultNamespace, body)
    const { auditId, trace } = await writeAudit(db, ctx, { ...target, body })
    return {
      natural_key: auditId,
      namespace: target.namespace,
      type: 'audit_event' as const,
      trace,
    }
  })

  serveMemory(app, api, contract.readTrail, (ctx, { params: { id }, query }) =>
    readTrail(db, ctx, { id, namespace: query.namespace ?? defaultNamespace }),
  )

  serveMemory(app, api, contract.consolidate, async (ctx, { query, body = {} }) => {
    const target = await writeTarget(ctx, defaultNamespace, body, query)
    const done = await withCatalog(parts, ctx, target.namespace, (catalog) =>
      consolidate(db, { ...target, catalog, limit: query.limit }),
    )
    return { namespace: target.namespace, ...done }
  })
}

/** With labels of the personal data in it, where that is protected. */
function labelled<T extends { properties?: Record<string, unknown> | undefined }>(
  body: T,
  { piiProtection }: MemoryParts['settings'],
): T {
  const labels = piiProtection ? piiLabels(body) : {}
  return labels.pii ? { ...body, properties: { ...body.properties, ...labels } } : body
}

function replyOf(note: Note, namespace: string, type: string) {
  const { key, title, trace, edges, unchanged, warnings } = note
  return {
    natural_key: key,
    namespace,
    type,
    title,
    origin: 'agent' as const,
    edges,
    trace,
    unchanged,
    ...(warnings.length > 0 && { warnings }),
  }
}
