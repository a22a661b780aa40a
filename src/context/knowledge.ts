import { askMemory } from '#client/memory.ts'
import type { CallInput } from '#client/client.ts'
import type { MemoryAnswer } from '#client/memory.ts'
import { isRetryable } from '#client/memory.ts'
import type { Route } from '#contract/route.ts'
import type { ReachedPlaces } from '#contract/visibility.ts'
import type { Transact } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { reachedPlaces } from './reached.ts'
import { memoryLine } from './memory-line.ts'
import { treeNamespace } from './memory-request.ts'
import type { MemoryProvider } from './recall.ts'

/** Where knowledge of a workspace is kept: the core derives it, a caller never names it. */
export interface KnowledgePlace {
  workspaceId: string
  workspaceVersion: number
  /** The top of its tree. */
  rootId: string
  ancestorIds: string[]
  namespace: string
  /** Null when the caller reaches the whole tenant. */
  reached: ReachedPlaces | null
}

/**
 * Finds where a workspace's knowledge belongs, in a transaction of its own that is over before memory
 * is asked. Throws `not_found`, `memory_disabled`, and `workspace_archived` when it is to be written to.
 */
export async function knowledgePlace(
  transact: Transact,
  ctx: Ctx,
  input: { provider: MemoryProvider | null; workspaceId: string; writes: boolean },
): Promise<{ place: KnowledgePlace; provider: MemoryProvider }> {
  const { provider, workspaceId, writes } = input
  // Memory is told before the journal is, so whoever writes is confirmed here too.
  const mode = writes ? 'read write' : 'read only'
  const { line, reached } = await transact(mode, async (sql) => {
    const one = await memoryLine(sql, ctx, workspaceId)
    const ids = [one.workspace.id, ...one.ancestorIds]
    return { line: one, reached: await reachedPlaces(sql, ctx, ids) }
  })
  const { workspace, ancestorIds, rootId } = line
  if (writes && workspace.status !== 'active') {
    throw new AppError(
      'workspace_archived',
      `Cannot change knowledge of workspace "${workspaceId}": it is archived`,
    )
  }
  if (!provider) {
    throw new AppError('memory_disabled', 'Cannot reach knowledge: no memory is configured')
  }
  const namespace = treeNamespace(provider.namespacePrefix, ctx.tenantId, rootId)
  const place = {
    workspaceId: workspace.id,
    workspaceVersion: workspace.version,
    rootId,
    ancestorIds,
    namespace,
    reached,
  }
  return { place, provider }
}

/** What a caller is told when memory refuses the content, and when it holds something newer. */
export interface RefusalCodes {
  invalid: ErrorCode
  conflict: ErrorCode
  /** What it says when there is no such thing; without it that is memory's failure. */
  missing?: ErrorCode
}

/**
 * Asks memory about knowledge. Unlike `POST /context` there is no answer without memory: its failure is
 * ours, `memory_unavailable` or `memory_timeout`; its refusal of the content is the caller's, with the codes given.
 */
export async function askKnowledge<R extends Route>(
  provider: MemoryProvider,
  ctx: Ctx,
  ask: { route: R; input: CallInput<R>; codes: RefusalCodes },
): Promise<Record<string, unknown>> {
  const deadline = AbortSignal.timeout(provider.reconcileTimeoutSeconds * 1000)
  const signal = AbortSignal.any([ctx.signal, deadline])
  const answer = await askMemory(provider, ask.route, ask.input, {
    signal,
    traceRunId: ctx.traceRunId,
    traceparent: ctx.traceparent,
  })
  if (answer.kind === 'ok') return answer.body
  throw refusal(answer, ask.codes)
}

function refusal(answer: MemoryAnswer, { invalid, conflict, missing }: RefusalCodes): AppError {
  if (answer.kind === 'refused') {
    const { status, body } = answer
    if (status === 409) {
      const clash = CLASHES.find((code) => code === body['code'])
      if (clash) return new AppError(clash, 'Cannot change knowledge: a shared pack has the name')
      return new AppError(conflict, 'Cannot change knowledge: memory holds a newer state')
    }
    if (status === 404 && missing) {
      return new AppError(missing, 'Cannot change knowledge: memory does not have what is named')
    }
    if (status === 413) {
      return new AppError(
        'request_too_large',
        'Cannot change knowledge: memory takes no body of this size',
      )
    }
    if (body['code'] === 'snapshot_empty') {
      return new AppError(
        'snapshot_empty',
        'Cannot reconcile an empty snapshot over knowledge that is there; allowEmpty says it is meant',
      )
    }
    if (status === 400 || status === 422) {
      return new AppError(invalid, 'Cannot reach knowledge: memory refused what was asked', {
        details: { items: offendersOf(body) },
      })
    }
  }
  return unavailable(answer)
}

/**
 * `memory_unavailable`, or `memory_timeout` for one that took too long, saying what a caller can do about it
 * and nothing that memory wrote.
 */
export function unavailable(answer: MemoryAnswer): AppError {
  if (answer.kind === 'timeout') {
    return new AppError('memory_timeout', 'Cannot reach knowledge: memory took too long', {
      details: { memoryStatus: null, retryable: true },
      retryAfterSeconds: 1,
    })
  }
  const memoryStatus = 'status' in answer ? answer.status : null
  const isFinal = answer.kind === 'refused' && answer.status < 500 && answer.status !== 429
  return new AppError('memory_unavailable', 'Cannot reach knowledge: memory did not do it', {
    details: { memoryStatus, retryable: isRetryable(answer) && !isFinal },
    ...('cause' in answer && { cause: answer.cause }),
  })
}

/** Told apart by memory, and to the caller. */
const CLASHES = ['pack_name_conflict', 'kind_conflict', 'relation_conflict'] as const

const MAX_OFFENDERS = 50

export interface Offender {
  /** Such as `body.entities.3.key`. */
  loc?: string
  kind?: string
  key?: string
}

/** What memory complained about: places, kinds and keys of the caller's own, never values or words. */
function offendersOf(said: Record<string, unknown>): Offender[] {
  const lists = [said['errors'], said['items']].filter(Array.isArray)
  return lists
    .flat()
    .filter(isRecord)
    .slice(0, MAX_OFFENDERS)
    .map(({ loc, kind, key }) => ({
      ...(typeof loc === 'string' && { loc }),
      ...(typeof kind === 'string' && { kind }),
      ...(typeof key === 'string' && { key }),
    }))
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
