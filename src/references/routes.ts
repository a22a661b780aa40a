import type { Hono } from 'hono'
import * as references from '#contract/external-references.ts'
import type {
  ExternalReference,
  NewExternalReference,
  Referenced,
} from '#contract/external-references.ts'
import { permits } from '#contract/permissions.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { addReference } from './add-reference.ts'
import { READ, readEntity, selectEntity } from './entity.ts'
import { selectReferenceByKey, selectReferences } from './reference.sql.ts'
import type { ReferenceKey, ReferenceRow } from './reference.sql.ts'
import { removeReference } from './remove-reference.ts'

export function referencesRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, references.addTaskReference, (sql, ctx, { params, body }) =>
    add(sql, ctx, { of: 'task', ref: params.ref, body }),
  )
  bind(app, deps, references.addWorkspaceReference, (sql, ctx, { params, body }) =>
    add(sql, ctx, { of: 'workspace', ref: params.id, body }),
  )
  bind(app, deps, references.addArtifactReference, (sql, ctx, { params, body }) =>
    add(sql, ctx, { of: 'artifact', ref: params.id, body }),
  )
  bind(app, deps, references.listTaskReferences, (sql, ctx, { params, query }) =>
    list(sql, ctx, { of: 'task', ref: params.ref, query }),
  )
  bind(app, deps, references.listWorkspaceReferences, (sql, ctx, { params, query }) =>
    list(sql, ctx, { of: 'workspace', ref: params.id, query }),
  )
  bind(app, deps, references.listArtifactReferences, (sql, ctx, { params, query }) =>
    list(sql, ctx, { of: 'artifact', ref: params.id, query }),
  )
  bindRemovals(app, deps)
  bind(app, deps, references.findExternalReference, (sql, ctx, { query }) => find(sql, ctx, query))
}

function bindRemovals(app: Hono, deps: Deps): void {
  bind(app, deps, references.removeTaskReference, async (sql, ctx, { params }) =>
    referenceReply(await removeReference(sql, ctx, { of: 'task', ...params })),
  )
  bind(app, deps, references.removeWorkspaceReference, async (sql, ctx, { params }) => {
    const { id: ref, referenceId } = params
    return referenceReply(await removeReference(sql, ctx, { of: 'workspace', ref, referenceId }))
  })
  bind(app, deps, references.removeArtifactReference, async (sql, ctx, { params }) => {
    const { id: ref, referenceId } = params
    return referenceReply(await removeReference(sql, ctx, { of: 'artifact', ref, referenceId }))
  })
}

async function add(
  sql: Sql,
  ctx: Ctx,
  input: { of: Referenced; ref: string; body: NewExternalReference },
) {
  const { of, ref, body } = input
  const { reference, added } = await addReference(sql, ctx, { of, ref, ...body })
  return withStatus(added ? 201 : 200, referenceReply(reference))
}

async function list(
  sql: Sql,
  ctx: Ctx,
  input: { of: Referenced; ref: string; query: { limit: number; cursor?: string | undefined } },
) {
  const { of, ref, query } = input
  const entity = await readEntity(sql, ctx, of, ref)
  const page = pageRequest(`external-references/${of}/${entity.id}`, query)
  return pageOf(page, await selectReferences(sql, ctx, { page, entity }), referenceReply)
}

/** What the caller may not see is as good as absent. */
async function find(sql: Sql, ctx: Ctx, key: ReferenceKey): Promise<ExternalReference> {
  const reference = await selectReferenceByKey(sql, ctx, key)
  const isSeen =
    reference &&
    permits(ctx.permissions, READ[reference.entityType]) &&
    (await selectEntity(sql, ctx, reference.entityType, reference.entityId))
  return referenceReply(found(isSeen ? reference : undefined, 'external reference', key.externalId))
}

function referenceReply(row: ReferenceRow): ExternalReference {
  return { ...row, createdAt: row.createdAt.toISOString() }
}
