import type { ProjectConfig } from '#contract/project-config.ts'
import type { ProjectLifecycle } from '#contract/project-templates.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { BUILT_IN_LIFECYCLE, requireSoundLifecycle } from './lifecycle.ts'
import { insertTemplate } from './template.sql.ts'
import type { TemplateRow } from './template.sql.ts'

export interface NewTemplate {
  key: string
  displayName: string
  description: string
  config: ProjectConfig
  lifecycle?: ProjectLifecycle | undefined
}

/**
 * Adds the next version of a template; projects keep the version they were made from. Throws
 * `invalid_lifecycle`, `secret_refused`.
 */
export async function createTemplate(sql: Sql, ctx: Ctx, input: NewTemplate): Promise<TemplateRow> {
  requirePermission(ctx, 'project_templates.manage')
  const { key, displayName, description, config, lifecycle = BUILT_IN_LIFECYCLE } = input
  requireSoundLifecycle(lifecycle)
  refuseSecretsIn({ displayName, description, config })
  await lockEntities(sql, ctx, [{ type: 'project_template', id: key }])
  const row = { id: newId(), key, displayName, description, config, lifecycle }
  const template = await insertTemplate(sql, ctx, row)
  await appendEvent(sql, ctx, {
    type: 'project_template.created',
    entityType: 'project_template',
    entityId: template.id,
    entityVersion: 1,
    workspaceId: null,
    payload: { key, version: template.version, displayName },
  })
  return template
}
