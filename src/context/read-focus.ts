import { selectLatestArtifacts } from '#artifacts/artifact.sql.ts'
import type { ContextRequest, Focus, Freshness, ProjectFocus } from '#contract/context.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { encodeCursor } from '#events/cursor.ts'
import { currentPosition } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectProjectScope } from '#projects/layers.sql.ts'
import { selectProject } from '#projects/project.sql.ts'
import { readEffective } from '#projects/read-governance.ts'
import { identityReply } from '#projects/replies.ts'
import { selectRun } from '#runs/run.sql.ts'
import { selectTask } from '#work/task.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'
import { publicIdOf } from '#work/task.ts'
import type { Focused, WorkspaceFocus } from './focus.ts'
import { readFreshness } from './freshness.ts'
import { harnessContext } from './harness-context.ts'
import { memoryLine } from './memory-line.ts'
import { reachedPlaces } from './reached.ts'

const MAX_ARTIFACTS = 20

/**
 * Reads and authorises everything that a context request needs, in the caller's transaction: one
 * consistent view, the journal's cursor before anything else.
 *
 * Throws `permission_denied` for a focus the caller may not read, `not_found` for one that is not there.
 */
export async function readFocus(
  sql: Sql,
  ctx: Ctx,
  request: ContextRequest,
): Promise<{ focused: Focused; freshness: Freshness }> {
  const { runId = null, workspaceId } = request
  if (request.task !== undefined || runId !== null) requirePermission(ctx, 'tasks.read')
  const eventCursor = encodeCursor(await currentPosition(sql, ctx))
  const harness = await harnessContext(sql, ctx, { sessionId: undefined, eventCursor })
  const focus = await focusOn(sql, ctx, await taskInFocus(sql, ctx, request))
  const project = await focusProject(sql, ctx, request)
  const place = workspaceId ?? focus.task?.workspaceId ?? project?.workspaceId
  const workspace = await focusWorkspace(sql, ctx, place)
  const line = workspace && [workspace.id, ...workspace.ancestorIds]
  const reached = await reachedPlaces(sql, ctx, line)
  const freshness = await readFreshness(sql, ctx, eventCursor)
  const { tenantId, actorId: principalId } = ctx
  const focused = { tenantId, principalId, harness, runId, focus, project, workspace, reached }
  return { focused, freshness }
}

/** The task asked for, else that of the run asked for. */
async function taskInFocus(
  sql: Sql,
  ctx: Ctx,
  { task, runId }: ContextRequest,
): Promise<TaskRow | undefined> {
  const run =
    runId === undefined ? undefined : found(await selectRun(sql, ctx, runId), 'run', runId)
  const ref = task ?? run?.taskId
  return ref === undefined ? undefined : found(await selectTask(sql, ctx, ref), 'task', ref)
}

async function focusOn(sql: Sql, ctx: Ctx, task: TaskRow | undefined): Promise<Focus> {
  if (!task) return { task: null, artifacts: [] }
  const { id, title, description, status, priority, workspaceId, version, activeClaimId } = task
  const publicId = publicIdOf(task.number)
  const rows = permits(ctx.permissions, 'artifacts.read')
    ? await selectLatestArtifacts(sql, ctx, { taskId: id, limit: MAX_ARTIFACTS })
    : []
  return {
    task: {
      id,
      publicId,
      title,
      description,
      status,
      priority,
      workspaceId,
      version,
      activeClaimId,
    },
    artifacts: rows.map((row) => ({
      id: row.id,
      type: row.type,
      name: row.name,
      uri: row.uri,
      runId: row.runId,
      createdAt: row.createdAt.toISOString(),
    })),
  }
}

async function focusProject(
  sql: Sql,
  ctx: Ctx,
  { projectId, includeSubprojects }: Pick<ContextRequest, 'projectId' | 'includeSubprojects'>,
): Promise<ProjectFocus | null> {
  if (projectId === undefined) return null
  requirePermission(ctx, 'projects.read')
  const project = found(await selectProject(sql, ctx, projectId), 'project', projectId)
  const { workspaceId } = project
  const { config, provenance } = await readEffective(sql, ctx, workspaceId)
  return {
    ...identityReply(project),
    workspaceScope: await selectProjectScope(sql, ctx, { workspaceId, includeSubprojects }),
    effectiveConfig: config,
    configProvenance: provenance,
  }
}

async function focusWorkspace(
  sql: Sql,
  ctx: Ctx,
  id: string | null | undefined,
): Promise<WorkspaceFocus | null> {
  if (id === null || id === undefined) return null
  const { workspace, ancestorIds, rootId } = await memoryLine(sql, ctx, id)
  return { id: workspace.id, ancestorIds, rootId }
}
