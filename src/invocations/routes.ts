import type { Hono } from 'hono'
import * as calls from '#contract/skill-invocations.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { createSchemaCache } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { selectRun } from '#runs/run.sql.ts'
import { selectSkill } from '#skills/skill.sql.ts'
import { cancelInvocation } from './cancel-invocation.ts'
import { claimInvocation } from './claim-invocation.ts'
import { completeInvocation } from './complete-invocation.ts'
import { failInvocation } from './fail-invocation.ts'
import { heartbeatInvocation } from './heartbeat-invocation.ts'
import { claimRefusal } from './invocation.ts'
import { selectClaimable, selectInvocations } from './invocation.sql.ts'
import { invokeSkill } from './invoke-skill.ts'
import { readInvocation, seesAll } from './lock-invocation.ts'
import { invocationReply } from './replies.ts'

/** How many different schemas of inputs and outputs are kept ready. */
const MAX_SCHEMAS = 200

/** Calls of skills: asked for, executed, ended. */
export function invocationsRoutes(app: Hono, deps: Deps): void {
  const compile = createSchemaCache(MAX_SCHEMAS)
  bind(app, deps, calls.invokeSkill, async (sql, ctx, { params, body, idempotencyKey }) => {
    const isKeyed = idempotencyKey !== undefined
    return invocationReply(await invokeSkill(sql, ctx, { ...params, ...body, isKeyed }, compile))
  })
  bind(app, deps, calls.listInvocations, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const { skillId, runId, claimable = false } = query
    if (skillId !== undefined) found(await selectSkill(sql, ctx, skillId), 'skill', skillId)
    if (runId !== undefined) found(await selectRun(sql, ctx, runId), 'run', runId)
    const page = pageRequest(`skill-invocations?${JSON.stringify(narrowing)}`, query)
    const invokedBy = seesAll(ctx) ? undefined : ctx.actorId
    const select = claimable ? selectClaimable : selectInvocations
    const rows = await select(sql, ctx, { page, ...narrowing, invokedBy })
    const { items, nextCursor } = pageOf(page, rows, (row) => row)
    const shown = items.filter((row) => !claimable || claimRefusal(row) === undefined)
    return { items: shown.map(invocationReply), nextCursor }
  })
  bind(app, deps, calls.getInvocation, async (sql, ctx, { params: { id } }) =>
    invocationReply(await readInvocation(sql, ctx, id)),
  )
  bindExecution(app, deps, compile)
  bind(app, deps, calls.cancelInvocation, async (sql, ctx, { params, body }) =>
    invocationReply(await cancelInvocation(sql, ctx, { ...params, ...body })),
  )
}

function bindExecution(app: Hono, deps: Deps, compile: CompileSchema): void {
  bind(app, deps, calls.claimInvocation, async (sql, ctx, { params }) => {
    const call = await claimInvocation(sql, ctx, params)
    return { ...invocationReply(call), contract: call.contract }
  })
  bind(app, deps, calls.heartbeatInvocation, async (sql, ctx, { params, body }) =>
    invocationReply(await heartbeatInvocation(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, calls.completeInvocation, async (sql, ctx, { params, body }) =>
    invocationReply(await completeInvocation(sql, ctx, { ...params, ...body }, compile)),
  )
  bind(app, deps, calls.failInvocation, async (sql, ctx, { params, body }) =>
    invocationReply(await failInvocation(sql, ctx, { ...params, ...body })),
  )
}
