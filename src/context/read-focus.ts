import { selectLatestArtifacts } from '#artifacts/artifact.sql.ts'
import type { ContextRequest, Focus, Freshness } from '#contract/context.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { encodeCursor } from '#events/cursor.ts'
import { currentPosition } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import { selectRun } from '#runs/run.sql.ts'
import { selectTask } from '#work/task.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'
import { publicIdOf } from '#work/task.ts'
import type { Focused, WorkspaceFocus } from './focus.ts'
import { readFreshness } from './freshness.ts'
import { harnessContext } from './harness-context.ts'

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
  const { task: ref, runId = null, workspaceId, projectId } = request
  if (ref !== undefined || runId !== null) requirePermission(ctx, 'tasks.read')
  const eventCursor = encodeCursor(await currentPosition(sql, ctx))
  const harness = await harnessContext(sql, ctx, { sessionId: undefined, eventCursor })
  const run = runId === null ? undefined : found(await selectRun(sql, ctx, runId), 'run', runId)
  const taskRef = ref ?? run?.taskId
  const task = taskRef && found(await selectTask(sql, ctx, taskRef), 'task', taskRef)
  const focus = await focusOn(sql, ctx, task || undefined)
  if (projectId !== undefined) refuseProject(ctx, projectId)
  const workspace = await focusWorkspace(sql, ctx, workspaceId ?? focus.task?.workspaceId)
  const freshness = await readFreshness(sql, ctx, eventCursor)
  const { tenantId, actorId: principalId } = ctx
  const focused = { tenantId, principalId, harness, runId, focus, project: null, workspace }
  return { focused, freshness }
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

/** No tenant has projects yet, so none is ever found; the right to look comes first all the same. */
function refuseProject(ctx: Ctx, projectId: string): void {
  requirePermission(ctx, 'projects.read')
  found(undefined, 'project', projectId)
}

async function focusWorkspace(
  sql: Sql,
  ctx: Ctx,
  id: string | null | undefined,
): Promise<WorkspaceFocus | null> {
  if (id === null || id === undefined) return null
  const line = await selectAncestors(sql, ctx, id)
  const workspace = found(line[0], 'workspace', id)
  return { id: workspace.id, ancestorIds: line.slice(1).map((ancestor) => ancestor.id) }
}
