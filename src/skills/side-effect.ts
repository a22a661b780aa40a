import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { RunRow } from '#runs/run.sql.ts'
import type { ToolDetail } from './read-tools.ts'
import { selectExecutionSkill } from './execution.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'

type Basis = Pick<InvocationRow, 'basis' | 'approvalId'>

const NONE: Basis = { basis: null, approvalId: null }

/**
 * What lets a call write outside. A skill that does not needs nothing. Else it is a gate of the run's task that
 * was approved and is used up by the call, or the type of the task, which names the skill that carries it out.
 *
 * Throws `approval_required`.
 */
export async function basisOf(
  sql: Sql,
  ctx: Ctx,
  call: { skill: ToolDetail; run: RunRow | undefined; approvalId: string | undefined },
): Promise<Basis> {
  const { skill, run } = call
  if (skill.sideEffects !== 'external_write') return NONE
  const execution = run && (await selectExecutionSkill(sql, ctx, run.taskId))
  if (execution === skill.name) return { basis: 'execution', approvalId: null }
  throw new AppError(
    'approval_required',
    `Cannot call skill "${skill.name}": it writes outside, which asks for an approval first`,
    { details: { skillId: skill.id, sideEffects: skill.sideEffects } },
  )
}
