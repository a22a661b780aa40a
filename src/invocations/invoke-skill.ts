import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { schemaErrors } from '#lib/schema-errors.ts'
import { requirePlace } from '#org/permission.ts'
import { insertAction } from '#runs/action.sql.ts'
import { requireBudget } from '#runs/budget.ts'
import { lockLiveRun, runNotActive } from '#runs/live-run.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { readSession, requireStandIn } from '#work/live-session.ts'
import { entityOf } from './invocation-events.ts'
import { insertInvocation } from './invocation-writes.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import { invocationEntity, readInvocation } from './lock-invocation.ts'
import { readTool } from '#skills/read-tools.ts'
import type { ToolDetail, ToolPlace } from '#skills/read-tools.ts'
import { basisOf, refuseUsedApproval } from './side-effect.ts'

export interface NewInvocation {
  /** Of the skill. */
  id: string
  inputs: Record<string, unknown>
  runId?: string | undefined
  fencingToken?: number | undefined
  workspaceId?: string | undefined
  sessionId?: string | undefined
  approvalId?: string | undefined
  /** The caller sent an Idempotency-Key. */
  isKeyed: boolean
}

/**
 * Calls a skill: the call waits for an executor. For a run it is made under the live claim and is one of the
 * run's actions, which ends as the call does.
 *
 * Throws what the route names.
 */
export async function invokeSkill(
  sql: Sql,
  ctx: Ctx,
  input: NewInvocation,
  compile: CompileSchema,
): Promise<InvocationRow> {
  const { inputs } = input
  refuseSecretsIn({ inputs })
  const id = newId()
  const run = await lockRunOf(sql, ctx, input)
  await lockEntities(sql, ctx, [invocationEntity(id)])
  const place = await placeFor(sql, ctx, input, run)
  const skill = await readTool(sql, ctx, input.id, place)
  requireCallable(ctx, skill, input)
  requireInputs(skill, inputs, compile)
  if (run) requireBudget(run, 'action')
  const basis = await basisOf(sql, ctx, { skill, run, approvalId: input.approvalId })
  const runId = run?.id ?? null
  const actionId = run ? await recordCall(sql, ctx, { id, run, skill }) : null
  const { workspaceId } = place
  const call = { id, skillId: skill.id, workspaceId, runId, actionId, inputs, ...basis }
  await insertInvocation(sql, ctx, call).catch((cause: unknown) =>
    refuseUsedApproval(skill, basis, cause),
  )
  const invoked = await readInvocation(sql, ctx, id)
  await appendEvent(sql, ctx, {
    ...entityOf(invoked, invoked.version),
    type: 'skill_invocation.requested',
    payload: { skillId: skill.id, runId, ...basis },
  })
  return invoked
}

async function lockRunOf(
  sql: Sql,
  ctx: Ctx,
  { runId, fencingToken }: NewInvocation,
): Promise<RunRow | undefined> {
  if (runId === undefined || fencingToken === undefined) return undefined
  return (await lockLiveRun(sql, ctx, { id: runId, fencingToken })).run
}

/** Where the call is made. Whoever calls in the name of a person needs that delegated. */
async function placeFor(
  sql: Sql,
  ctx: Ctx,
  input: NewInvocation,
  run: RunRow | undefined,
): Promise<ToolPlace> {
  const { workspaceId = null, sessionId } = run ?? input
  requirePlace(ctx, workspaceId)
  if (sessionId !== undefined) {
    const session = await readSession(sql, ctx, sessionId)
    await requireStandIn(sql, ctx, session, 'skills.invoke')
  }
  return { workspaceId, sessionId }
}

function requireCallable(ctx: Ctx, skill: ToolDetail, { isKeyed }: NewInvocation): void {
  const { id, name, against, contract } = skill
  const [first] = against
  if (first) {
    throw new AppError('tool_not_authorized', `Cannot call skill "${name}": ${first}`, {
      details: { skillId: id, reasons: against },
    })
  }
  const missing = contract.requiredPermissions.filter((one) => !permits(ctx.permissions, one))
  if (missing.length > 0) {
    throw new AppError(
      'skill_permission_denied',
      `Cannot call skill "${name}" without ${missing.join(', ')}`,
      { details: { skillId: id, missing } },
    )
  }
  if (contract.idempotency === 'required' && !isKeyed) {
    throw new AppError(
      'idempotency_key_required',
      `Cannot call skill "${name}": its contract asks for an Idempotency-Key`,
      { details: { skillId: id } },
    )
  }
}

function requireInputs(
  { id, name, contract }: ToolDetail,
  inputs: Record<string, unknown>,
  compile: CompileSchema,
): void {
  const errors = schemaErrors(contract.inputs, inputs, ['body', 'inputs'], compile)
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_skill_inputs',
    `Cannot call skill "${name}": ${first.loc} ${first.message}`,
    { details: { skillId: id, errors } },
  )
}

/** Notes in the run what it is about to have done. @returns the id of the action */
async function recordCall(
  sql: Sql,
  ctx: Ctx,
  { id, run, skill }: { id: string; run: RunRow; skill: ToolDetail },
): Promise<string> {
  const action = await insertAction(sql, ctx, {
    id: newId(),
    runId: run.id,
    action: 'skill.invoke',
    status: 'started',
    skill: skill.name,
    externalReference: `skill-invocation:${id}`,
    metadata: { skillId: skill.id, skillVersion: skill.version, invocationId: id },
    fencingToken: run.fencingToken,
  })
  if (!action) throw runNotActive(run)
  return action.id
}
