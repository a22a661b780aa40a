import { permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { placesOf, subjectOf, tenantResource } from './policy-decider.ts'
import type { Decide } from './policy-decider.ts'
import type { DecisionPoint, Resource } from './decision-point.ts'

/** What is counted while a decision point is only asked, not obeyed. */
export interface ShadowCounts {
  checked: () => void
  diverged: () => void
  unavailable: () => void
  skipped: () => void
}

/** So many questions may be open at once; a slow decision point must not fill the process. */
const MAX_OPEN = 64

/**
 * Decides by the caller's own permissions and asks the decision point beside it whether it would have
 * decided the same. The answer is counted and changes nothing; nobody waits for it.
 */
export function shadowDecider(options: {
  db: Database
  point: DecisionPoint
  counts: ShadowCounts
}): Decide {
  const { db, point, counts } = options
  let open = 0
  const compare = async (ctx: Ctx, permission: Permission, resources: readonly Resource[]) => {
    const { iam } = ctx
    if (!iam) return
    const answers = await Promise.all(
      resources.map((resource) => point.allowed(subjectOf(ctx, iam), resource, [permission])),
    )
    counts.checked()
    const isAllowed = answers.every((allowed) => allowed.length > 0)
    if (isAllowed !== permits(ctx.permissions, permission)) counts.diverged()
  }
  return async (ctx, route, input) => {
    const { access } = route
    if (access === 'public' || access === 'bootstrap') return ctx
    if (!ctx.iam || access === 'authenticated' || open >= MAX_OPEN) {
      counts.skipped()
    } else {
      open += 1
      void placesOf(db, ctx, route, input)
        .then((places) => places.map(({ resource }) => resource))
        .then((found) => compare(ctx, access, found.length > 0 ? found : [tenantResource(ctx)]))
        .catch(() => counts.unavailable())
        .finally(() => {
          open -= 1
        })
    }
    if (access !== 'authenticated') requirePermission(ctx, access)
    return ctx
  }
}
