import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { requireKnown } from './create-workspace-type.ts'
import { requirePermission, requirePlace } from './permission.ts'
import { requireVersion } from './version.ts'
import { selectWorkspaceType, updateWorkspaceTypeRow } from './workspace-type.sql.ts'
import type { WorkspaceTypeRow } from './workspace-type.ts'

export interface WorkspaceTypePatch {
  key: string
  expectedVersion: number
  displayName?: string | undefined
  description?: string | undefined
  allowRoot?: boolean | undefined
  parentTypes?: readonly string[] | null | undefined
}

const FIELDS = ['displayName', 'description', 'allowRoot', 'parentTypes'] as const

/**
 * Changes the fields given. Workspaces that stand where the new rules would not have them stay there.
 * Throws `not_found`, `version_conflict`; a patch that changes nothing writes nothing.
 */
export async function updateWorkspaceType(
  sql: Sql,
  ctx: Ctx,
  patch: WorkspaceTypePatch,
): Promise<WorkspaceTypeRow> {
  requirePermission(ctx, 'workspaces.manage')
  requirePlace(ctx, null)
  const { key, expectedVersion } = patch
  await lockEntities(sql, ctx, [{ type: 'workspace_type', id: key }])
  const before = found(await selectWorkspaceType(sql, ctx, key), 'workspace type', key)
  requireVersion('workspace type', before, expectedVersion)
  const given = Object.fromEntries(
    FIELDS.filter((field) => patch[field] !== undefined).map((field) => [field, patch[field]]),
  ) as Partial<WorkspaceTypeRow>
  const changes = FIELDS.filter(
    (field) => field in given && canonicalJson(before[field]) !== canonicalJson(given[field]),
  )
  if (changes.length === 0) return before
  await requireKnown(sql, ctx, given.parentTypes ?? [])
  const after = await updateWorkspaceTypeRow(sql, ctx, { ...before, ...given })
  await appendEvent(sql, ctx, {
    type: 'workspace_type.updated',
    entityType: 'workspace_type',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: null,
    payload: { changes, version: after.version },
  })
  return after
}
