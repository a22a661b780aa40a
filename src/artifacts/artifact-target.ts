import type { NewArtifact } from '#contract/artifacts.ts'
import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { ifGiven } from '#lib/if-given.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { taskEntity } from '#work/lock-task.ts'
import { selectTask } from '#work/task.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'
import { badField } from '#lib/bad-field.ts'
import { selectArtifact } from './artifact.sql.ts'
import type { ArtifactRow } from './artifact.sql.ts'

/** What a new artifact belongs to. */
export interface ArtifactTarget {
  task: TaskRow | undefined
  run: RunRow | undefined
  previous: ArtifactRow | undefined
}

type TargetInput = Pick<NewArtifact, 'taskId' | 'runId' | 'supersedesArtifactId'>

/**
 * Finds what the artifact belongs to, locks it, and reads it again as it is under the lock. A run implies
 * its task, and so does a superseded artifact. Throws `not_found`, and `invalid_request` for what
 * contradicts itself.
 */
export async function lockTarget(sql: Sql, ctx: Ctx, input: TargetInput): Promise<ArtifactTarget> {
  const before = await readTarget(sql, ctx, input)
  const { task, previous } = before
  const entities = [
    ...(task ? [taskEntity(task.id)] : []),
    ...(previous ? [{ type: 'artifact', id: previous.id }] : []),
  ]
  if (entities.length === 0) return before
  await lockEntities(sql, ctx, entities)
  return await readTarget(sql, ctx, input)
}

async function readTarget(sql: Sql, ctx: Ctx, input: TargetInput): Promise<ArtifactTarget> {
  const run = await ifGiven(input.runId, async (id) =>
    found(await selectRun(sql, ctx, id), 'run', id),
  )
  const previous = await ifGiven(input.supersedesArtifactId, async (id) =>
    found(await selectArtifact(sql, ctx, id), 'artifact', id),
  )
  const task = await ifGiven(input.taskId ?? run?.taskId ?? previous?.taskId, async (ref) =>
    found(await selectTask(sql, ctx, ref), 'task', ref),
  )
  if (run && run.taskId !== task?.id) throw badField('taskId', "must be the run's task")
  if (previous && previous.taskId !== (task?.id ?? null)) {
    throw badField('supersedesArtifactId', 'must be an artifact of the same task')
  }
  return { task, run, previous }
}
