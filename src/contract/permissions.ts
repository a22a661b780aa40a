import { z } from 'zod'

/** Every flat permission a credential can carry. `admin` implies all of them. Only ever added to. */
export const PERMISSIONS = [
  'admin',
  'principals.read',
  'principals.write',
  'delegations.manage',
  'sessions.open',
  'sessions.manage',
  'tasks.read',
  'tasks.write',
  'tasks.claim',
  'claims.manage',
  'events.read',
  'workspaces.read',
  'workspaces.manage',
  'org.read',
  'org.manage',
  'artifacts.read',
  'artifacts.write',
  'approvals.read',
  'approvals.manage',
  'approvals.decide',
  'observations.write',
  'projects.read',
  'projects.manage',
  'project_templates.read',
  'project_templates.manage',
  'operations.read',
  'operations.manage',
  'task_types.read',
  'task_types.manage',
  'skills.invoke',
  'skills.execute',
  'goals.read',
  'goals.write',
  'knowledge.packs.manage',
  'accounting.read',
  'accounting.manage',
  'webhooks.read',
  'webhooks.manage',
] as const
export type Permission = (typeof PERMISSIONS)[number]

export const Permission = z.enum(PERMISSIONS)

/** What only a person may hold: an agent must not decide over its own work. */
export const HUMAN_ONLY: ReadonlySet<Permission> = new Set(['admin', 'approvals.decide'])

/**
 * What concerns the tenant as a whole, so that a credential limited to a workspace never has it, whatever
 * it was given.
 */
const TENANT_WIDE: ReadonlySet<Permission> = new Set([
  'admin',
  'principals.write',
  'delegations.manage',
  'sessions.manage',
  'org.manage',
  'operations.read',
  'operations.manage',
  'project_templates.manage',
  'task_types.manage',
  'knowledge.packs.manage',
  'accounting.manage',
])

/** What is left of permissions inside one workspace: `admin` becomes everything that is left. */
export function withinWorkspace(held: readonly string[]): Permission[] {
  const all = new Set(held)
  return PERMISSIONS.filter((name) => !TENANT_WIDE.has(name) && permits(all, name))
}

/** True when a credential with `held` may do what needs `wanted`. */
export function permits(held: ReadonlySet<string>, wanted: Permission): boolean {
  return held.has('admin') || held.has(wanted)
}

/** What an agent needs for its daily work: take tasks, do them, ask for approval, remember and recall. */
export const AGENT_PERMISSIONS = [
  'sessions.open',
  'tasks.read',
  'tasks.write',
  'tasks.claim',
  'events.read',
  'workspaces.read',
  'artifacts.read',
  'artifacts.write',
  'approvals.read',
  'approvals.manage',
  'observations.write',
] as const satisfies readonly Permission[]
