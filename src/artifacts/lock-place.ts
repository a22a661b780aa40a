import type { NewArtifact } from '#contract/artifacts.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { badField } from '#lib/bad-field.ts'
import { requirePlace } from '#org/permission.ts'
import { endedWithClaim, runNotActive } from '#runs/live-run.ts'
import type { RunRow } from '#runs/run.sql.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { requireFree, requireLiveClaim } from '#work/live-claim.ts'
import { openWorkspace } from '#work/task-fields.ts'
import { lockTarget } from './artifact-target.ts'
import type { ArtifactTarget } from './artifact-target.ts'

export type PlaceInput = Pick<
  NewArtifact,
  'taskId' | 'runId' | 'workspaceId' | 'supersedesArtifactId' | 'claimId' | 'fencingToken'
>

/** Where the caller may publish now, and the claim under which it does. */
export interface Place extends ArtifactTarget {
  claim: ClaimRow | undefined
  workspaceId: string | null
}

/**
 * Locks what an artifact is to belong to and lets the caller publish there. A run implies its task, a task
 * its workspace, a superseded artifact its task; contradictions are refused. While a task is claimed, only
 * the claim writes to it: the caller shows it, by id or by the run it started.
 *
 * Throws `not_found`, `invalid_request`, `task_claimed`, `stale_claim`, `claim_holder_mismatch`,
 * `run_not_active`, `workspace_archived`, `permission_denied`.
 */
export async function lockPlace(sql: Sql, ctx: Ctx, input: PlaceInput): Promise<Place> {
  const target = await lockTarget(sql, ctx, input)
  const claim = await requireWritable(sql, ctx, input, target)
  const workspaceId = await workspaceOf(sql, ctx, input, target)
  requirePlace(ctx, workspaceId)
  return { ...target, claim, workspaceId }
}

/**
 * The claim under which the artifact is made, if any. What a run produces always comes under its claim;
 * what belongs to a task comes under a claim while there is a live one.
 */
async function requireWritable(
  sql: Sql,
  ctx: Ctx,
  input: PlaceInput,
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
  input: PlaceInput,
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
  input: PlaceInput,
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
