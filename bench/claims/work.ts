import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { startRun } from '#runs/start-run.ts'
import { succeedRun } from '#runs/succeed-run.ts'
import { claimTask } from '#work/claim-task.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { completeTask } from '#work/complete-task.ts'
import type { Agent } from '../kit/fleet.ts'

const CLAIM_SECONDS = 300

export async function claim(db: Database, agent: Agent, ref: string): Promise<ClaimRow> {
  const { ctx, sessionId } = agent
  return await transaction(db, 'read write', (sql) =>
    claimTask(sql, ctx, { ref, sessionId, ttlSeconds: CLAIM_SECONDS }),
  )
}

/** Completes a task that was claimed right after it had been made, under the claim. */
export async function finish(db: Database, { ctx }: Agent, held: ClaimRow): Promise<void> {
  const { taskId: ref, id: claimId, fencingToken } = held
  await transaction(db, 'read write', (sql) =>
    completeTask(sql, ctx, { ref, claimId, fencingToken, expectedVersion: 2 }),
  )
}

export async function start(db: Database, { ctx }: Agent, held: ClaimRow): Promise<string> {
  const { taskId: ref, id: claimId, fencingToken } = held
  const run = await transaction(db, 'read write', (sql) =>
    startRun(sql, ctx, { ref, claimId, fencingToken }),
  )
  return run.id
}

/** Ends a run with success, completes its task and releases the claim. */
export async function succeed(
  db: Database,
  { ctx }: Agent,
  run: { id: string; fencingToken: number },
): Promise<void> {
  await transaction(db, 'read write', (sql) =>
    succeedRun(sql, ctx, { ...run, output: { result: 'done' }, completeTask: true }),
  )
}
