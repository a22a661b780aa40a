import { selectArtifact } from '#artifacts/artifact.sql.ts'
import type { ArtifactRow } from '#artifacts/artifact.sql.ts'
import type { NewApproval } from '#contract/approvals.ts'
import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Entity } from '#events/append.ts'
import { badField } from '#lib/bad-field.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { ifGiven } from '#lib/if-given.ts'
import { taskEntity } from '#work/lock-task.ts'
import { selectTask } from '#work/task.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'
import type { ApprovalRow } from './approval.sql.ts'

/** What is to be approved, as it is while it is locked. */
export interface Subject {
  /** That of the artifact, when none was named. */
  task: TaskRow | undefined
  /** Null when the task was not named: then the artifact alone is to be approved. */
  taskRevision: number | null
  artifact: ArtifactRow | undefined
  /** Where it belongs, and with it the approval. */
  workspaceId: string | null
}

/** What changes together with an approval: itself, and the revisions that it is about. */
export function approvalEntities(
  approval: Pick<ApprovalRow, 'id' | 'taskId' | 'artifactId'>,
): Entity[] {
  const { id, taskId, artifactId } = approval
  return [
    { type: 'approval', id },
    ...(taskId === null ? [] : [taskEntity(taskId)]),
    ...(artifactId === null ? [] : [{ type: 'artifact', id: artifactId }]),
  ]
}

/**
 * Finds what is to be approved, locks it for the new approval, and reads it again as it is under the lock.
 * Throws `not_found`, `invalid_request` for what contradicts itself, and `version_conflict` when there is
 * a newer revision than the one named.
 */
export async function lockSubject(
  sql: Sql,
  ctx: Ctx,
  input: NewApproval & { id: string },
): Promise<Subject> {
  const { task, artifact } = await readSubject(sql, ctx, input)
  const ids = { id: input.id, taskId: task?.id ?? null, artifactId: artifact?.id ?? null }
  await lockEntities(sql, ctx, approvalEntities(ids))
  return requireNewest(await readSubject(sql, ctx, input), input)
}

async function readSubject(
  sql: Sql,
  ctx: Ctx,
  { taskId, artifactId }: NewApproval,
): Promise<Subject> {
  const named = await ifGiven(taskId, async (ref) =>
    found(await selectTask(sql, ctx, ref), 'task', ref),
  )
  const artifact = await ifGiven(artifactId, async (id) =>
    found(await selectArtifact(sql, ctx, id), 'artifact', id),
  )
  if (named && ![named.id, null, undefined].includes(artifact?.taskId)) {
    throw badField('artifactId', 'must be an artifact of the task, or of none')
  }
  // None when the task of the artifact has moved to where the caller does not reach.
  const task = named ?? (await ifGiven(artifact?.taskId, (id) => selectTask(sql, ctx, id)))
  const { workspaceId = null } = task ?? artifact ?? {}
  return { task, taskRevision: named?.revision ?? null, artifact, workspaceId }
}

function requireNewest(subject: Subject, { taskRevision }: NewApproval): Subject {
  const { task, artifact } = subject
  if (artifact && artifact.supersededByArtifactId !== null) {
    const headArtifactId = artifact.supersededByArtifactId
    throw newerRevision(`artifact "${artifact.id}"`, { headArtifactId })
  }
  if (task && taskRevision !== undefined && taskRevision !== task.revision) {
    throw newerRevision(`task "${task.id}"`, { currentRevision: task.revision })
  }
  return subject
}

function newerRevision(what: string, details: Record<string, unknown>): AppError {
  return new AppError('version_conflict', `Cannot ask to approve ${what}: it was revised since`, {
    details,
  })
}
