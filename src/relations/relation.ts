import type { Entity } from '#events/append.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'

/**
 * The lock under which relations are added. Two relations that close a circle together touch no task in
 * common, so the lock is that of all relations of a tenant.
 */
export function relationsEntity({ tenantId }: Tenancy): Entity {
  return { type: 'task_relations', id: tenantId }
}

export function dependencyCycle(details: { type: string; fromTaskId: string; toTaskId: string }) {
  const { type, fromTaskId, toTaskId } = details
  return new AppError(
    'dependency_cycle',
    `Cannot relate task "${fromTaskId}" to "${toTaskId}": ${type} would go in a circle`,
    { details },
  )
}
