import { AppError } from '#lib/errors.ts'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { approve, cancelApproval, reject } from '#approvals/decide-approval.ts'
import { requestApproval } from '#approvals/request-approval.ts'
import { cancelRun } from '#run-control/cancel-run.ts'
import { recordAction } from '#runs/record-action.ts'
import { recordCheckpoint } from '#runs/record-checkpoint.ts'
import { startRun } from '#runs/start-run.ts'
import { failRun } from '#runs/stop-run.ts'
import { succeedRun } from '#runs/succeed-run.ts'
import { suspendRun } from '#runs/suspend-run.ts'
import { claimTask } from '#work/claim-task.ts'
import { completeTask } from '#work/complete-task.ts'
import { createTask } from '#work/create-task.ts'
import { closeSession } from '#work/end-session.ts'
import { heartbeatClaim } from '#work/heartbeat-claim.ts'
import { heartbeatSession } from '#work/heartbeat-session.ts'
import { openSession } from '#work/open-session.ts'
import { reapExpired } from '#work/reap-expired.ts'
import { reclaimClaim } from '#work/reclaim-claim.ts'
import { releaseClaim } from '#work/release-claim.ts'
import { updateTask } from '#work/update-task.ts'
import { endLease } from '../support/leases.ts'
import type { Outcome } from './model.ts'

const TTL_SECONDS = 3600

export interface Fence {
  claimId: string
  fencingToken: number
}

/** What a story does to the database; `id` of what was made, or the code of the refusal. */
export type Done = { outcome: Outcome; id?: string }

/** The commands as they are, each in a transaction of its own. */
export function commandsOf(db: Database) {
  const run = (command: (sql: Sql) => Promise<unknown>): Promise<Done> =>
    outcomeOf(() => transaction(db, 'read write', command))
  const lease = { ttlSeconds: TTL_SECONDS }
  return {
    openSession: (ctx: Ctx) =>
      run((sql) => openSession(sql, ctx, { clientName: 'story', metadata: {}, ...lease })),
    closeSession: (ctx: Ctx, id: string) => run((sql) => closeSession(sql, ctx, id)),
    beatSession: (ctx: Ctx, id: string) =>
      run((sql) => heartbeatSession(sql, ctx, { id, ...lease })),
    createTask: (ctx: Ctx) => run((sql) => createTask(sql, ctx, { title: 'a task' })),
    claim: (ctx: Ctx, ref: string, sessionId: string) =>
      run((sql) => claimTask(sql, ctx, { ref, sessionId, ...lease })),
    beatClaim: (ctx: Ctx, id: string, fencingToken: number) =>
      run((sql) => heartbeatClaim(sql, ctx, { id, fencingToken, ...lease })),
    release: (ctx: Ctx, id: string, fencingToken: number) =>
      run((sql) => releaseClaim(sql, ctx, { id, fencingToken })),
    reclaim: (ctx: Ctx, id: string) => run((sql) => reclaimClaim(sql, ctx, id)),
    startRun: (ctx: Ctx, ref: string, fence: Fence) =>
      run((sql) => startRun(sql, ctx, { ref, ...fence })),
    checkpoint: (ctx: Ctx, id: string, fencingToken: number) =>
      run((sql) => recordCheckpoint(sql, ctx, { id, fencingToken, kind: 'progress', data: {} })),
    action: (ctx: Ctx, id: string, fencingToken: number) =>
      run((sql) =>
        recordAction(sql, ctx, { id, fencingToken, action: 'a', status: 'started', metadata: {} }),
      ),
    succeed: (ctx: Ctx, id: string, fencingToken: number, completesTask: boolean) =>
      run((sql) => succeedRun(sql, ctx, { id, fencingToken, completeTask: completesTask })),
    suspend: (ctx: Ctx, id: string, fencingToken: number, waitingForApprovalId?: string) =>
      run((sql) =>
        suspendRun(sql, ctx, { id, fencingToken, reason: 'waiting', waitingForApprovalId }),
      ),
    revise: (ctx: Ctx, ref: string, change: { expectedVersion: number; description: string }) =>
      run((sql) => updateTask(sql, ctx, { ref, ...change })),
    ask: (ctx: Ctx, taskId: string, assignedPrincipalId: string) =>
      run((sql) => requestApproval(sql, ctx, { taskId, assignedPrincipalId, gate: true })),
    approve: (ctx: Ctx, id: string) => run((sql) => approve(sql, ctx, { id })),
    reject: (ctx: Ctx, id: string) => run((sql) => reject(sql, ctx, { id })),
    withdraw: (ctx: Ctx, id: string) => run((sql) => cancelApproval(sql, ctx, { id })),
    fail: (ctx: Ctx, id: string) => run((sql) => failRun(sql, ctx, { id, reason: 'stopped' })),
    cancel: (ctx: Ctx, id: string) => run((sql) => cancelRun(sql, ctx, { id, reason: 'stopped' })),
    complete: (ctx: Ctx, ref: string, expectedVersion: number, fence: Fence | undefined) =>
      run((sql) => completeTask(sql, ctx, { ref, expectedVersion, ...fence })),
    reap: () => outcomeOf(() => reapExpired(db, 1000)),
    endLease: (ctx: Ctx, table: 'claims' | 'sessions', id: string) =>
      outcomeOf(() => endLease(db, ctx, table, id)),
  }
}

/** What a command came to, and the id of what it made. */
export async function outcomeOf(command: () => Promise<unknown>): Promise<Done> {
  try {
    const made = (await command()) as { id?: string } | undefined
    return { outcome: 'ok', ...(made?.id !== undefined && { id: made.id }) }
  } catch (error) {
    if (error instanceof AppError) return { outcome: error.code }
    throw error
  }
}
