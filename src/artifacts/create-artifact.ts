import type { NewArtifact } from '#contract/artifacts.ts'
import { keepInline } from '#blobs/blob.sql.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { compileSchema } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { inlineContent } from './artifact.ts'
import { insertArtifact, selectArtifact } from './artifact.sql.ts'
import type { ArtifactRow } from './artifact.sql.ts'
import { lockPlace } from './lock-place.ts'
import type { Place } from './lock-place.ts'
import { requireArtifact } from './require-artifact.ts'
import { requireSize } from './upload.ts'
import { uploadedContent } from './uploaded-content.ts'

interface Rules {
  compile?: CompileSchema
  /** Of content that comes with the artifact. */
  maxBytes?: number
}

/**
 * Publishes an artifact where {@link lockPlace} lets the caller publish. A revision must supersede the
 * newest of its chain.
 *
 * Throws what {@link lockPlace} throws, `version_conflict` with `details.headArtifactId`,
 * `request_too_large`, `upload_incomplete`, `invalid_artifact`, and `secret_refused` for a password in `uri`.
 */
export async function createArtifact(
  sql: Sql,
  ctx: Ctx,
  input: NewArtifact,
  { compile = compileSchema, maxBytes = Infinity }: Rules = {},
): Promise<ArtifactRow> {
  refuseSecretsIn({ uri: input.uri })
  const inline = inlineContent(input)
  if (inline) requireSize(inline.sizeBytes, maxBytes)
  const place = await lockPlace(sql, ctx, input)
  const { task, previous } = place
  if (previous?.supersededByArtifactId) throw superseded(previous)
  const content = inline ?? (await uploadedContent(sql, ctx, input, task))
  const row = { ...rowOf(input, place), ...contentColumns(content) }
  if (task) await requireArtifact(sql, ctx, { task, artifact: row }, compile)
  if (inline) await keepInline(sql, ctx, inline)
  await insertArtifact(sql, ctx, row).catch((cause: unknown) => {
    const raced = isPgError(cause, PG.uniqueViolation, 'one_successor_per_artifact')
    throw previous && raced ? superseded(previous) : cause
  })
  const artifact = found(await selectArtifact(sql, ctx, row.id), 'artifact', row.id)
  await appendEvent(sql, ctx, {
    type: 'artifact.created',
    entityType: 'artifact',
    entityId: artifact.id,
    entityVersion: 1,
    workspaceId: artifact.workspaceId,
    sessionId: place.claim?.sessionId ?? null,
    payload: {
      taskId: artifact.taskId,
      runId: artifact.runId,
      type: artifact.type,
      name: artifact.name,
      uri: artifact.uri,
      supersedesArtifactId: artifact.supersedesArtifactId,
    },
  })
  return artifact
}

function rowOf(input: NewArtifact, { task, run, previous, claim, workspaceId }: Place) {
  const { type, name, uri = null, metadata } = input
  return {
    id: newId(),
    type,
    name,
    uri,
    metadata,
    taskId: task?.id ?? null,
    runId: run?.id ?? null,
    workspaceId,
    supersedesArtifactId: previous?.id ?? null,
    claimId: claim?.id ?? null,
    fencingToken: claim?.fencingToken ?? null,
  }
}

function contentColumns(
  content: { sha256: string; mediaType: string; sizeBytes: number } | undefined,
) {
  if (!content) return { contentSha256: null, mediaType: null, sizeBytes: null }
  const { sha256, mediaType, sizeBytes } = content
  return { contentSha256: sha256, mediaType, sizeBytes }
}

function superseded(previous: ArtifactRow): AppError {
  return new AppError(
    'version_conflict',
    `Cannot supersede artifact "${previous.id}": it has a newer revision`,
    { details: { headArtifactId: previous.supersededByArtifactId } },
  )
}
