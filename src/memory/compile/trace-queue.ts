import { randomBytes } from 'node:crypto'
import type { Database } from '#db/sql.ts'
import type { Log } from '#lib/log.ts'
import { listedAudience } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { insertTraces } from './trace.sql.ts'
import type { TraceInsert } from './trace.sql.ts'

/** How an answer came about. */
export interface Answered {
  traceId: string
  /** Namespaces as asked for. */
  names: readonly string[]
  namespaces: readonly NamespaceRow[]
  /** Of its reader: who sees less does not get to see it. */
  audience: Audience
  trace: Record<string, unknown>
  /** Ids of what it names, as shown: `obs-…`, `chunk:<n>`, `fact-…`, `node:<key>`. */
  items: readonly string[]
}

/** A name for an answer that nobody can guess. */
export function newTraceId(): string {
  return `ctx-${randomBytes(8).toString('hex')}`
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
      const { traceId, audience, items } = answered
      const trace = { ...answered.trace, seen_by: listedAudience(audience) }
      waiting.push({ namespaceId, traceId, trace, items })
      if (!isWriting) void write()
    },
  }
}
