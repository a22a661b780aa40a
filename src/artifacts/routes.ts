import type { Hono } from 'hono'
import type { BlobStore } from '#blobs/store.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind, bindTransfer } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { createSchemaCache } from '#lib/json-schema.ts'
import { selectRun } from '#runs/run.sql.ts'
import { workspacesOf } from '#org/workspaces-of.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { abortUpload } from './abort-upload.ts'
import { selectArtifact, selectArtifacts } from './artifact.sql.ts'
import { beginUpload } from './begin-upload.ts'
import { completeUpload } from './complete-upload.ts'
import { createArtifact } from './create-artifact.ts'
import { putPart } from './put-part.ts'
import { readContent } from './read-content.ts'
import { artifactReply, partReply, uploadReply } from './replies.ts'
import { sendContent } from './send-content.ts'
import type { UploadLimits } from './upload.ts'
import { selectParts } from './upload-part.sql.ts'
import { selectUpload } from './upload.sql.ts'

/** Where content goes, what bounds it, and who counts it. */
export interface ContentOptions {
  store: BlobStore
  limits: UploadLimits
  meter: ContentMeter
}

export interface ContentMeter {
  /** Bytes that a caller has published or uploaded. */
  stored: (bytes: number) => void
  /** Bytes on their way to a reader. */
  served: (bytes: number) => void
}

/** How many different schemas of artifacts are kept ready. */
const MAX_SCHEMAS = 200

/** Artifacts and their content. */
export function artifactsRoutes(app: Hono, deps: Deps, options: ContentOptions): void {
  const { store, meter } = options
  const rules = {
    compile: createSchemaCache(MAX_SCHEMAS),
    maxBytes: options.limits.maxBytes,
  }
  bind(app, deps, artifacts.createArtifact, async (sql, ctx, { body }) => {
    const row = await createArtifact(sql, ctx, body, rules)
    if (body.content !== undefined) meter.stored(row.sizeBytes ?? 0)
    return artifactReply(row)
  })
  bind(app, deps, artifacts.listArtifacts, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, taskId: ref, ...narrowing } = query
    const taskId = ref && found(await selectTaskId(sql, ctx, ref), 'task', ref)
    if (query.runId) found(await selectRun(sql, ctx, query.runId), 'run', query.runId)
    await workspacesOf(sql, ctx, query)
    const filter = { ...narrowing, taskId }
    const page = pageRequest(`artifacts?${JSON.stringify(filter)}`, query)
    return pageOf(page, await selectArtifacts(sql, ctx, { ...filter, page }), artifactReply)
  })
  bind(app, deps, artifacts.getArtifact, async (sql, ctx, { params: { id } }) =>
    artifactReply(found(await selectArtifact(sql, ctx, id), 'artifact', id)),
  )
  bind(app, deps, artifacts.getArtifactContent, async (sql, ctx, { params: { id } }) => {
    const { read, ...content } = await readContent(sql, ctx, id, store)
    const failed = (error: unknown) => {
      const { tenantId } = ctx
      deps.log.error('Content not served', error, { tenantId, artifactId: id })
    }
    return { ...content, read: (range) => watched(read(range), meter.served, failed) }
  })
  bindUploads(app, deps, options)
}

function bindUploads(app: Hono, deps: Deps, { store, limits, meter }: ContentOptions): void {
  bind(app, deps, uploads.beginArtifactUpload, async (sql, ctx, { body }) =>
    uploadReply(await beginUpload(sql, ctx, body, limits)),
  )
  bind(app, deps, uploads.getArtifactUpload, async (sql, ctx, { params: { id } }) => {
    const upload = found(await selectUpload(sql, ctx, id), 'upload', id)
    const parts = await selectParts(sql, ctx, id)
    return { ...uploadReply(upload), parts: parts.map(partReply) }
  })
  bind(app, deps, uploads.abortArtifactUpload, async (sql, ctx, { params: { id } }) =>
    uploadReply(await abortUpload(sql, ctx, id)),
  )
  const transfer = { store, limits, stored: meter.stored }
  bindTransfer(app, deps, uploads.sendArtifactContent, async (transact, ctx, { query, bytes }) =>
    uploadReply(await sendContent({ ...transfer, transact }, ctx, query, bytes)),
  )
  bindTransfer(app, deps, uploads.putUploadPart, async (transact, ctx, input) => {
    const { params, query, bytes } = input
    const part = { uploadId: params.id, number: params.number, ...query }
    return partReply(await putPart({ ...transfer, transact }, ctx, part, bytes))
  })
  bindTransfer(app, deps, uploads.completeArtifactUpload, async (transact, ctx, input) => {
    const completion = { ...input.params, ...input.body }
    return uploadReply(await completeUpload({ ...transfer, transact }, ctx, completion))
  })
}

/** Counts what is read, and tells when reading fails after the answer has begun. */
async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  served: (bytes: number) => void,
  failed: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  let hasBegun = false
  try {
    for await (const chunk of chunks) {
      served(chunk.length)
      yield chunk
      hasBegun = true
    }
  } catch (error) {
    if (hasBegun) failed(error)
    throw error
  }
}
