import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import type { Permission } from '#contract/permissions.ts'
import * as calls from '#contract/skill-invocations.ts'
import type { registerSkill } from '#contract/skills.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { parentRun } from './children.ts'
import { givenSkill, newSkill } from './skills.ts'
import { workClients } from './work.ts'

type Body = NonNullable<CallInput<typeof registerSkill>['body']>

/** What a caller of skills may do at least. */
export const CALLER_RIGHTS = [
  'skills.invoke',
  'tasks.read',
  'tasks.claim',
  'sessions.open',
] as const

/** A tenant with a skill, a caller who has it, and executors. */
export async function callStage(
  db: Database,
  differs: { contract?: Partial<Body['contract']>; sideEffects?: Body['sideEffects'] } = {},
) {
  const { admin, clientOf } = workClients(db)
  const { tenant, client } = await admin()
  const add = async (permissions: readonly Permission[]) => {
    const { key, ctx } = await tenant.caller(permissions)
    return { ...clientOf(key), ctx }
  }
  const caller = await add([...CALLER_RIGHTS, 'tasks.write', 'approvals.manage'])
  const { contract, ...rest } = differs
  const body = newSkill('deploy', rest)
  const skill = await givenSkill(
    client,
    { ...body, contract: { ...body.contract, ...contract } },
    { principalId: caller.ctx.actorId },
  )
  return {
    tenant,
    ctx: tenant.ctx,
    client,
    clientOf,
    caller,
    skill,
    newExecutor: () => add(['skills.execute']),
    /** Calls the skill, for no run unless one is given. */
    invoke: (more: object = {}, headers: { idempotencyKey?: string } = {}) =>
      call(caller, calls.invokeSkill, { params: { id: skill.id }, body: more, ...headers }),
    newRun: (budget: object = {}) => parentRun(caller, budget),
  }
}

export type CallStage = Awaited<ReturnType<typeof callStage>>

export function claimed(executor: ClientOptions, id: string) {
  return call(executor, calls.claimInvocation, { params: { id } })
}

export function seen(who: ClientOptions, id: string) {
  return call(who, calls.getInvocation, { params: { id } })
}

/** Lets the wait before the next attempt be over by now. */
export async function endBackoff(db: Database, ctx: Ctx, id: string): Promise<void> {
  await db`
    update skill_invocations
    set available_at = clock_timestamp() - interval '1 millisecond'
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}
