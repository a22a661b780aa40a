import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { schemaErrors } from '#lib/schema-errors.ts'
import { entityOf, finishActionOf } from './invocation-events.ts'
import { updateSucceeded } from './invocation-writes.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import { lockHeld, readInvocation, staleLease } from './lock-invocation.ts'
import type { Held } from './lock-invocation.ts'

/**
 * Ends a call with success. What came out must be what the contract says: if it is not, nothing changes and the
 * executor still holds the lease.
 *
 * Throws `not_found`, `stale_invocation_lease`, `invalid_skill_outputs`, `secret_refused`.
 */
export async function completeInvocation(
  sql: Sql,
  ctx: Ctx,
  input: Held & { outputs: Record<string, unknown> },
  compile: CompileSchema,
): Promise<InvocationRow> {
  const { outputs, ...held } = input
  refuseSecretsIn({ outputs })
  const { call, lease } = await lockHeld(sql, ctx, held)
  const { id, skillId, fencingToken } = call
  const errors = schemaErrors(call.contract.outputs, outputs, ['body', 'outputs'], compile)
  const [first] = errors
  if (first) {
    throw new AppError(
      'invalid_skill_outputs',
      `Cannot complete skill invocation "${id}": ${first.loc} ${first.message}`,
      { details: { skillId, errors } },
    )
  }
  const version = await updateSucceeded(sql, ctx, { id, lease, outputs })
  if (version === undefined) throw staleLease(id, 'expired')
  await finishActionOf(sql, ctx, call, 'succeeded')
  await appendEvent(sql, ctx, {
    ...entityOf(call, version),
    type: 'skill_invocation.succeeded',
    payload: { skillId, fencingToken },
  })
  return await readInvocation(sql, ctx, id)
}
