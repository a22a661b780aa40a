import type { NewArtifact } from '#contract/artifacts.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { badField } from '#lib/bad-field.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { compileSchema } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { requirePlace } from '#org/permission.ts'
import { endedWithClaim, runNotActive } from '#runs/live-run.ts'
import type { RunRow } from '#runs/run.sql.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { requireFree, requireLiveClaim } from '#work/live-claim.ts'
import { openWorkspace } from '#work/task-fields.ts'
import { lockTarget } from './artifact-target.ts'
import type { ArtifactTarget } from './artifact-target.ts'
import { inlineContent } from './artifact.ts'
import type { InlineContent } from './artifact.ts'
import { requireArtifact } from './require-artifact.ts'
import { insertArtifact, insertContent, selectArtifact } from './artifact.sql.ts'
import type { ArtifactRow } from './artifact.sql.ts'

/**
 * Publishes an artifact. A run implies its task, a task its workspace, a superseded artifact its task;
 * contradictions are refused. While a task is claimed, only the claim writes to it: the caller shows it,
 * by id or by the run it started. A revision must supersede the newest of its chain.
 *
 * Throws `not_found`, `invalid_request`, `task_claimed`, `stale_claim`, `claim_holder_mismatch`,
 * `run_not_active`, `version_conflict` with `details.headArtifactId`, `workspace_archived`,
 * `invalid_artifact`.
 */
export async function createArtifact(
  sql: Sql,
  ctx: Ctx,
  input: NewArtifact,
  compile: CompileSchema = compileSchema,
): Promise<ArtifactRow> {
  const content = inlineContent(input)
  const target = await lockTarget(sql, ctx, input)
  const claim = await requireWritable(sql, ctx, input, target)
  const workspaceId = await workspaceOf(sql, ctx, input, target)
  requirePlace(ctx, workspaceId)
  const { task, previous } = target
  if (previous?.supersededByArtifactId) throw superseded(previous)
  const row = { ...rowOf(input, content, target), ...fenceOf(claim), workspaceId }
  if (task) await requireArtifact(sql, ctx, { task, artifact: row }, compile)
  if (content) await insertContent(sql, ctx, content)
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
    workspaceId,
    sessionId: claim?.sessionId ?? null,
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

function rowOf(input: NewArtifact, content: InlineContent | undefined, target: ArtifactTarget) {
  const { type, name, uri = null, metadata } = input
  const { task, run, previous } = target
  return {
    id: newId(),
    type,
    name,
    uri,
    metadata,
    ...contentColumns(content),
    taskId: task?.id ?? null,
    runId: run?.id ?? null,
    supersedesArtifactId: previous?.id ?? null,
  }
}

function contentColumns(content: InlineContent | undefined) {
  if (!content) return { contentSha256: null, mediaType: null, sizeBytes: null }
  const { sha256, mediaType, bytes } = content
  return { contentSha256: sha256, mediaType, sizeBytes: bytes.length }
}

function fenceOf(claim: ClaimRow | undefined) {
  return { claimId: claim?.id ?? null, fencingToken: claim?.fencingToken ?? null }
}

/**
 * The claim under which the artifact is made, if any. What a run produces always comes under its claim;
 * what belongs to a task comes under a claim while there is a live one.
 */
async function requireWritable(
  sql: Sql,
  ctx: Ctx,
  input: NewArtifact,
  { task, run }: ArtifactTarget,
): Promise<ClaimRow | undefined> {
  const { claimId, fencingToken } = input
  if (run) return await requireRunWritable(sql, ctx, input, run)
  if (task && claimId !== undefined && fencingToken !== undefined) {
    return await requireLiveClaim(sql, ctx, { taskId: task.id, claimId, fencingToken })
  }
  if (task) await requireFree(sql, ctx, { taskId: task.id })
  else if (claimId !== undefined) throw badField('taskId', 'is needed with claimId')
  return undefined
}

async function requireRunWritable(
  sql: Sql,
  ctx: Ctx,
  input: NewArtifact,
  run: RunRow,
): Promise<ClaimRow> {
  const { claimId = run.claimId, fencingToken } = input
  if (run.status !== 'running' && !endedWithClaim(run)) throw runNotActive(run)
  if (claimId !== run.claimId) throw badField('claimId', "must be the run's claim")
  const { taskId } = run
  if (fencingToken !== undefined) {
    return await requireLiveClaim(sql, ctx, { taskId, claimId, fencingToken })
  }
  await requireFree(sql, ctx, { taskId })
  throw badField('fencingToken', 'is needed with runId')
}

async function workspaceOf(
  sql: Sql,
  ctx: Ctx,
  input: NewArtifact,
  { task, previous }: ArtifactTarget,
): Promise<string | null> {
  const { workspaceId } = input
  const implied = task ? task.workspaceId : previous?.workspaceId
  if (workspaceId === undefined) return implied ?? null
  const id = await openWorkspace(sql, ctx, workspaceId)
  if (implied !== undefined && implied !== id) {
    throw badField('workspaceId', 'must be the workspace of the task or of what is superseded')
  }
  return id
}

function superseded(previous: ArtifactRow): AppError {
  return new AppError(
    'version_conflict',
    `Cannot supersede artifact "${previous.id}": it has a newer revision`,
    { details: { headArtifactId: previous.supersededByArtifactId } },
  )
}
