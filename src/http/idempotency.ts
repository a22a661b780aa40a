import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { newId, sha256 } from '#lib/id.ts'
import type { Route } from '#contract/route.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import * as records from './idempotency.sql.ts'
import type { Answer, RequestInput } from './serve.ts'

const IN_FLIGHT_RETRY_SECONDS = 1

export interface Once {
  key: string
  /** Equal for the same wish: principal, method, path, query and body. */
  fingerprint: string
  secretFields: readonly string[]
}

/** What makes two requests the same, for a route called with an `Idempotency-Key`. */
export function onceOf(route: Route, ctx: Ctx, input: RequestInput<Route>): Once | undefined {
  if (input.idempotencyKey === undefined) return undefined
  const { params, rawBody, search, expectedVersion } = input
  const wish = [ctx.actorId, route.method, route.path, params, search, expectedVersion, rawBody]
  return {
    key: input.idempotencyKey,
    fingerprint: sha256(canonicalJson(wish)),
    secretFields: route.secretFields ?? [],
  }
}

/**
 * Runs a command at most once per key, in the command's own transaction: the record exists exactly
 * when the change does. A twin waits for the first (bounded by `lock_timeout`) and gets its answer.
 *
 * Throws `idempotency_key_reused` (another wish under the key), `idempotency_in_flight`.
 */
export async function runOnce<T>(
  sql: Sql,
  ctx: Ctx,
  once: Once,
  command: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  await records.lockKey(sql, ctx, once.key).catch((cause: unknown) => {
    throw isPgError(cause, PG.lockNotAvailable) ? inFlight(once.key, cause) : cause
  })
  const record = await records.selectRecord(sql, ctx, once.key)
  if (record) return replay<T>(record, once)
  const answer = await command()
  // A route outside a transaction may have taken the key meanwhile; then this command is undone.
  const isKept = await records.insertRecord(sql, ctx, { ...once, ...stored(answer, once) })
  if (!isKept) throw inFlight(once.key)
  return answer
}

/**
 * The same for a command that calls another service: no transaction may wait for the network, so a
 * pending record holds the key for `leaseSeconds`, which must exceed the longest call. A failure frees
 * the key; a crash frees it when the lease ends.
 */
export async function runOnceOutside<T>(
  db: Database,
  ctx: Ctx,
  once: Once & { leaseSeconds: number },
  command: () => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const token = newId()
  const held = await records.insertPending(db, ctx, { ...once, token })
  if (!held) {
    const record = await records.selectRecord(db, ctx, once.key)
    if (!record || record.status === null) {
      if (record && record.fingerprint !== once.fingerprint) throw reused(once.key)
      throw inFlight(once.key)
    }
    return replay<T>(record, once)
  }
  try {
    const answer = await command()
    await records.updatePending(db, ctx, { key: once.key, token, ...stored(answer, once) })
    return answer
  } catch (error) {
    await records.deletePending(db, ctx, { key: once.key, token })
    throw error
  }
}

function replay<T>(record: records.RecordRow, once: Once): Answer<T> {
  if (record.fingerprint !== once.fingerprint) throw reused(once.key)
  if (record.status === null) throw inFlight(once.key)
  return {
    status: record.status,
    body: record.body as T,
    headers: { 'Idempotency-Replayed': 'true' },
  }
}

function stored<T>(answer: Answer<T>, once: Once): { status: number; body: object } {
  const body = { ...(answer.body as Record<string, unknown>) }
  for (const field of once.secretFields) if (field in body) body[field] = null
  return { status: answer.status, body }
}

function reused(key: string): AppError {
  return new AppError(
    'idempotency_key_reused',
    `Cannot act: Idempotency-Key "${key}" belongs to a different request`,
  )
}

function inFlight(key: string, cause?: unknown): AppError {
  return new AppError(
    'idempotency_in_flight',
    `Cannot act: a request with Idempotency-Key "${key}" is still running`,
    { retryAfterSeconds: IN_FLIGHT_RETRY_SECONDS, cause },
  )
}
