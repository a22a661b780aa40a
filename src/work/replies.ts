import type { Claim } from '#contract/claims.ts'
import type { Session } from '#contract/sessions.ts'
import type { Task } from '#contract/tasks.ts'
import type { ClaimRow } from './claim.sql.ts'
import type { SessionRow } from './session.sql.ts'
import { publicIdOf } from './task.ts'
import type { TaskRow } from './task.sql.ts'

/** Rows as the contract shows them. A lease that is over shows as expired, recorded or not. */
export function sessionReply(row: SessionRow): Session {
  const { id, principalId, clientName, clientVersion, metadata, onBehalfOf } = row
  const { controlLevel, ttlSeconds } = row
  return {
    id,
    principalId,
    clientName,
    clientVersion,
    metadata,
    onBehalfOf,
    harness: harnessReply(row),
    controlLevel,
    status: row.status === 'active' && !row.isLive ? 'expired' : row.status,
    ttlSeconds,
    expiresAt: row.expiresAt.toISOString(),
    lastHeartbeatAt: row.lastHeartbeatAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
    endedAt: instant(row.endedAt),
  }
}

function harnessReply(row: SessionRow): Session['harness'] {
  if (row.harnessType === null || row.protocolVersion === null) return null
  const { harnessVersion, protocolVersion, capabilities, hostname, environment } = row
  return {
    type: row.harnessType,
    version: harnessVersion,
    protocolVersion,
    capabilities,
    hostname,
    environment,
  }
}

/** Without the token of the newest claim, which only its holder has to know. */
export function taskReply(row: TaskRow): Task {
  const { number, statusCategory, lastFencingToken: _, ...rest } = row
  return {
    ...rest,
    publicId: publicIdOf(number),
    systemStatusCategory: statusCategory,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    completedAt: instant(row.completedAt),
  }
}

export function claimReply(row: ClaimRow): Claim {
  const { id, taskId, sessionId, fencingToken, intent, ttlSeconds, endReason } = row
  return {
    id,
    taskId,
    taskPublicId: publicIdOf(row.taskNumber),
    sessionId,
    holderId: row.principalId,
    fencingToken,
    status: row.status === 'active' && !row.isLive ? 'expired' : row.status,
    intent,
    ttlSeconds,
    expiresAt: row.expiresAt.toISOString(),
    createdAt: row.createdAt.toISOString(),
    endedAt: instant(row.endedAt),
    endReason,
  }
}

function instant(date: Date | null): string | null {
  return date?.toISOString() ?? null
}
