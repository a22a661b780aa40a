import type { ContextBody, ContextPack } from '#contract/memory-context.ts'
import type { Database } from '#db/sql.ts'
import type { Log } from '#lib/log.ts'
import { redacted } from '../redacted.ts'
import { shown } from '../shown.ts'
import { listedAudience } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { insertTraces } from './trace.sql.ts'
import type { TraceInsert } from './trace.sql.ts'

/** A pack that was answered, with what was asked. */
export interface Answered {
  /** Namespaces as asked for. */
  names: readonly string[]
  namespaces: readonly NamespaceRow[]
  audience: Audience
  body: ContextBody
  pack: ContextPack
  at: Date
}

/** Stores traces behind the readers' backs. */
export interface TraceQueue {
  /** Takes a trace to be stored soon; drops it when too many wait. Never throws, never waits. */
  push: (answered: Answered) => void
}

const MAX_WAITING = 500
const BATCH = 50

/**
 * A bounded queue in front of the table of traces, written in batches by one writer at a time. A trace
 * that cannot be stored is logged and gone: it explains an answer and must not delay one.
 */
export function traceQueue(db: Database, log: Log): TraceQueue {
  const waiting: TraceInsert[] = []
  let isWriting = false

  const write = async () => {
    isWriting = true
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH)
      try {
        await insertTraces(db, batch)
      } catch (error) {
        log.error('Cannot store traces', error, { traces: batch.length })
      }
    }
    isWriting = false
  }

  return {
    push: (answered) => {
      const namespaceId = answered.names
        .map((name) => answered.namespaces.find(({ namespace }) => namespace === name))
        .find((row) => row !== undefined)?.id
      if (namespaceId === undefined || waiting.length >= MAX_WAITING) return
      const { trace_id: traceId } = answered.pack
      waiting.push({ namespaceId, traceId, trace: traceOf(answered), items: itemsOf(answered) })
      if (!isWriting) void write()
    },
  }
}

function itemsOf({ pack }: Answered): string[] {
  const named = [...pack.sections.flatMap(({ items }) => items), ...pack.budget.dropped]
  return [...new Set(named.map(({ id }) => id))]
}

/** No text of an item and nothing of the caller's state but its size: a trace outlives both. */
function traceOf({ names, audience, body, pack, at }: Answered): Record<string, unknown> {
  const { ephemeral_context: state, ...request } = body
  return {
    trace_id: pack.trace_id,
    created_at: at.toISOString(),
    namespaces: names,
    seen_by: listedAudience(audience),
    request: {
      ...redacted(shown(request)),
      query: pack.query,
      ephemeral_context_chars: state ? JSON.stringify(state).length : 0,
    },
    selected: pack.sections.flatMap(({ kind: section, items }) =>
      items.map(({ id, kind, score, token_estimate, signals }) => ({
        id,
        kind,
        section,
        score,
        token_estimate,
        signals,
      })),
    ),
    dropped: pack.budget.dropped,
    budget: {
      max_tokens: pack.budget.max_tokens,
      token_estimate: pack.token_estimate,
      truncated: pack.budget.truncated,
    },
    conflicts: pack.conflicts,
    warnings: pack.warnings,
    stats: pack.stats,
  }
}
