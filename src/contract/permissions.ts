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
] as const
export type Permission = (typeof PERMISSIONS)[number]

export const Permission = z.enum(PERMISSIONS)

/** What only a person may hold: an agent must not decide over its own work. */
export const HUMAN_ONLY: ReadonlySet<Permission> = new Set(['admin', 'approvals.decide'])

/** True when a credential with `held` may do what needs `wanted`. */
export function permits(held: ReadonlySet<string>, wanted: Permission): boolean {
  return held.has('admin') || held.has(wanted)
}

/** What an agent needs for its daily work: take tasks, do them, remember and recall. */
export const AGENT_PERMISSIONS = [
  'sessions.open',
  'tasks.read',
  'tasks.write',
  'tasks.claim',
  'events.read',
  'workspaces.read',
  'artifacts.read',
  'artifacts.write',
  'observations.write',
] as const satisfies readonly Permission[]
