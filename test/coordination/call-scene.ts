import { assign } from '#access/assign.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { startRun } from '#runs/start-run.ts'
import type { NewInvocation } from '#invocations/invoke-skill.ts'
import { registerSkill } from '#skills/register-skill.ts'
import { createTaskType } from '#task-types/create-task-type.ts'
import { claimTask } from '#work/claim-task.ts'
import { createTask } from '#work/create-task.ts'
import { NewSkill } from '#contract/skills.ts'
import { NewTaskType } from '#contract/task-types.ts'
import { testTenant } from '../support/ctx.ts'
import { newSession } from '../support/leases.ts'
import { REVIEWED } from '../support/reviewed-type.ts'
import { newSkill } from '../support/skills.ts'
import { SKILLS } from './calls.ts'
import type { SkillKind } from './calls.ts'

const OUTPUTS = { type: 'object', properties: { done: { type: 'boolean' } } }

function skillOf(kind: SkillKind) {
  const { maxAttempts, backoffSeconds, isRepeatable } = SKILLS[kind]
  const { contract, ...body } = newSkill(kind)
  return NewSkill.parse({
    ...body,
    sideEffects: kind === 'write' ? 'external_write' : 'external_read',
    contract: {
      ...contract,
      outputs: OUTPUTS,
      retryPolicy: { maxAttempts, backoffSeconds },
      idempotency: isRepeatable ? 'natural' : 'none',
    },
  })
}

/**
 * A new tenant with two skills, two executors, and a caller who has both skills and a run that the second one
 * may be called for.
 */
export async function callScene(db: Database) {
  const tenant = await testTenant(db)
  const admin = tenant.ctx
  const rights = ['skills.invoke', 'tasks.read', 'tasks.claim', 'sessions.open'] as const
  const { ctx: caller } = await tenant.caller(rights)
  const executors = [
    await tenant.caller(['skills.execute']),
    await tenant.caller(['skills.execute']),
  ]
  const give = (kind: SkillKind) =>
    transaction(db, 'read write', async (sql) => {
      const { id } = await registerSkill(sql, admin, skillOf(kind))
      const principalId = caller.actorId
      await assign(sql, admin, { kind: 'skill', id, principalId, workspaceId: null })
      return id
    })
  const skills = { read: await give('read'), write: await give('write') }
  const run = await runOf(db, admin, caller)
  return {
    caller,
    actors: [...executors.map(({ ctx }) => ctx), caller] as readonly Ctx[],
    runId: run.id,
    inputOf: (kind: SkillKind): NewInvocation => ({
      id: skills[kind],
      inputs: {},
      isKeyed: false,
      ...(SKILLS[kind].isForRun && { runId: run.id, fencingToken: run.fencingToken }),
    }),
    endLease: (own: Database, id: string) => own`
      update skill_invocations
      set lease_expires_at = clock_timestamp() - interval '1 millisecond'
      where tenant_id = ${admin.tenantId}
        and id = ${id}`,
    /** The wait of a running call counts from the end of its lease. */
    endWait: (own: Database, id: string) => own`
      update skill_invocations
      set available_at = clock_timestamp() - interval '1 hour',
          lease_expires_at = lease_expires_at - interval '1 hour'
      where tenant_id = ${admin.tenantId}
        and id = ${id}`,
  }
}

export type CallScene = Awaited<ReturnType<typeof callScene>>

async function runOf(db: Database, admin: Ctx, caller: Ctx) {
  const type = NewTaskType.parse({ ...REVIEWED, customFieldsSchema: null, executionSkill: 'write' })
  const task = await transaction(db, 'read write', async (sql) => {
    await createTaskType(sql, admin, type)
    return await createTask(sql, admin, { title: 'Write', typeKey: type.key })
  })
  const sessionId = await newSession(db, caller)
  return await transaction(db, 'read write', async (sql) => {
    const claim = await claimTask(sql, caller, { ref: task.id, sessionId, ttlSeconds: 3600 })
    const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
    return await startRun(sql, caller, { ref: task.id, ...fence })
  })
}
