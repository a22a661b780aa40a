import type { NewSession } from '#contract/sessions.ts'
import { requireDelegation } from '#access/require-delegation.ts'
import { CAPABILITIES } from '#contract/sessions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { insertSession } from './session.sql.ts'
import type { SessionRow } from './session.sql.ts'

type HarnessColumns = Pick<
  SessionRow,
  | 'harnessType'
  | 'harnessVersion'
  | 'protocolVersion'
  | 'capabilities'
  | 'hostname'
  | 'environment'
  | 'controlLevel'
>

const NO_HARNESS: HarnessColumns = {
  harnessType: null,
  harnessVersion: null,
  protocolVersion: null,
  capabilities: [],
  hostname: null,
  environment: null,
  controlLevel: 'human_operated',
}

function harnessColumns(harness: NonNullable<NewSession['harness']>): HarnessColumns {
  return {
    harnessType: harness.type,
    harnessVersion: harness.version ?? null,
    protocolVersion: harness.protocolVersion,
    capabilities: CAPABILITIES.filter((name) => harness.capabilities.includes(name)),
    hostname: harness.hostname ?? null,
    environment: harness.environment ?? null,
    controlLevel: 'connected',
  }
}

/**
 * Opens a session of the caller for `ttlSeconds`. Capabilities that nobody knows are dropped.
 *
 * Throws `delegation_required` for `onBehalfOf` without an active delegation of that person to the caller.
 */
export async function openSession(
  sql: Sql,
  ctx: Ctx,
  input: Omit<NewSession, 'ttlSeconds'> & { ttlSeconds: number },
): Promise<SessionRow> {
  const { harness, onBehalfOf } = input
  if (onBehalfOf !== undefined) {
    const permission = 'sessions.open'
    await requireDelegation(sql, ctx, { agentId: ctx.actorId, onBehalfOf, permission })
  }
  const session = await insertSession(sql, ctx, {
    id: newId(),
    clientName: input.clientName,
    clientVersion: input.clientVersion ?? null,
    metadata: input.metadata,
    onBehalfOf: onBehalfOf ?? null,
    ...(harness ? harnessColumns(harness) : NO_HARNESS),
    ttlSeconds: input.ttlSeconds,
  })
  await appendEvent(sql, ctx, {
    type: 'session.opened',
    entityType: 'session',
    entityId: session.id,
    entityVersion: session.version,
    workspaceId: null,
    sessionId: session.id,
    payload: { clientName: session.clientName, harnessType: session.harnessType },
  })
  return session
}
