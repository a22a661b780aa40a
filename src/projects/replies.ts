import type { ConfigRevision } from '#contract/config-revisions.ts'
import type { ProjectTemplate } from '#contract/project-templates.ts'
import type { Project, ProjectIdentity } from '#contract/projects.ts'
import type { ProjectRow } from './project.sql.ts'
import type { RevisionRow } from './revision.sql.ts'
import type { TemplateRow } from './template.sql.ts'

/** Rows as the contract shows them. */
export function projectReply(row: ProjectRow): Project {
  const { name, settings, activeRevision, createdBy, createdAt, updatedAt } = row
  return {
    ...identityReply(row),
    name,
    settings,
    activeRevision,
    createdBy,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}

/** Which project it is and where it stands, without what is configured. */
export function identityReply(row: ProjectRow): ProjectIdentity {
  const { id, workspaceId, parentProjectId, templateKey, templateVersion, statusKey } = row
  const { status, startDate, targetDate, version } = row
  return {
    id,
    workspaceId,
    parentProjectId,
    templateKey,
    templateVersion,
    statusKey,
    systemStatusCategory: row.statusCategory,
    status,
    ownerPrincipalId: row.ownerId,
    startDate,
    targetDate,
    version,
  }
}

export function templateReply({ createdAt, ...row }: TemplateRow): ProjectTemplate {
  return { ...row, createdAt: createdAt.toISOString() }
}

export function revisionReply({ createdAt, ...row }: RevisionRow): ConfigRevision {
  return { ...row, createdAt: createdAt.toISOString() }
}
