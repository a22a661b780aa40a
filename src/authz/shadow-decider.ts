import { permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Route, RouteInput } from '#contract/route.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { policyDecider } from './policy-decider.ts'
import type { Decide } from './policy-decider.ts'
import type { QuestionOptions } from './questions.ts'

/** What is counted while a decision point is only asked, not obeyed. */
export interface ShadowCounts {
  checked: () => void
  diverged: (difference: Divergence) => void
  unavailable: () => void
  skipped: () => void
}

/** A request that the decision point would have treated otherwise. */
export interface Divergence {
  /** What the decision point would have done. */
  policy: 'allows' | 'denies'
  permission: Permission
  route: string
  requestId: string
}

/** So many questions may be open at once; a slow decision point must not fill the process. */
const MAX_OPEN = 64

/**
 * Decides by the caller's own permissions and asks the decision point beside it whether policy mode would
 * have let the caller in as well. The answer is counted and changes nothing; nobody waits for it.
 */
export function shadowDecider(options: QuestionOptions & { counts: ShadowCounts }): Decide {
  const { counts } = options
  const decide = policyDecider(options)
  let open = 0

  const compare = async (
    ctx: Ctx,
    route: Route,
    permission: Permission,
    input: RouteInput<Route>,
  ) => {
    const isAllowed = await isLetIn(decide(ctx, route, input))
    counts.checked()
    if (isAllowed === permits(ctx.permissions, permission)) return
    const policy = isAllowed ? 'allows' : 'denies'
    const { requestId } = ctx
    counts.diverged({ policy, permission, route: `${route.method} ${route.path}`, requestId })
  }

  return async (ctx, route, input) => {
    const { access } = route
    if (access === 'public' || access === 'bootstrap') return ctx
    if (!ctx.iam || access === 'authenticated' || open >= MAX_OPEN) {
      counts.skipped()
    } else {
      open += 1
      void compare(ctx, route, access, input)
        .catch(counts.unavailable)
        .finally(() => {
          open -= 1
        })
    }
    if (access !== 'authenticated') requirePermission(ctx, access)
    return ctx
  }
}

const REFUSALS: readonly string[] = ['permission_denied', 'child_grant_exceeded']

async function isLetIn(decision: Promise<Ctx>): Promise<boolean> {
  try {
    await decision
    return true
  } catch (error) {
    if (error instanceof AppError && REFUSALS.includes(error.code)) return false
    throw error
  }
}
