import type { Database, DatabaseAddress, Sql } from '#db/sql.ts'
import { comparePositions, ORIGIN } from './cursor.ts'
import type { Position } from './cursor.ts'
import { isHeldBack, isStable } from './horizon.ts'
import { createListener } from './listener.ts'
import type { Listener } from './listener.ts'

export interface HeadsOptions {
  db: Database
  /** Where the connection that is told of new events is opened; absent, only the poll tells. */
  address?: DatabaseAddress
  /** Longest time for which a lost wake-up goes unnoticed. */
  pollSeconds: number
  onError: (error: unknown) => void
}

/** A reader's watch over the end of one journal. */
export interface Watch extends Disposable {
  /**
   * Waits until the journal has a stable event beyond the position. Nothing is held meanwhile: no
   * connection, no transaction. False when the time is over, or the signal aborts, before that.
   */
  beyond: (position: Position, until: { ms: number; signal: AbortSignal }) => Promise<boolean>
}

interface Journal {
  head: Position
  /** Told by a wake-up since the last poll. */
  isTold: boolean
  readers: number
  waiting: Set<{ position: Position; wake: () => void }>
}

/** Pause before an event that an open transaction holds back is looked for again; it doubles. */
const RECHECK_MS = 20

/**
 * Where the journals end that somebody in this process reads: one connection that listens and, after a
 * wake-up or a poll, one query over all of these tenants together, however many readers they have. A
 * connection that has gone deaf costs a poll interval; when a poll finds what no wake-up told, it is made
 * anew.
 */
export class Heads implements AsyncDisposable {
  readonly #options: HeadsOptions
  readonly #listener: Listener
  readonly #journals = new Map<string, Journal>()
  readonly #dirty = new Set<string>()
  #recheckMs = RECHECK_MS
  #looking: Promise<void> | undefined
  #poll: NodeJS.Timeout | undefined
  #recheck: NodeJS.Timeout | undefined

  constructor(options: HeadsOptions) {
    this.#options = options
    const { address, onError } = options
    this.#listener = createListener({
      address,
      onWake: (tenantId) => this.#wake(tenantId),
      onError,
    })
  }

  watch(tenantId: string): Watch {
    const known = this.#journals.get(tenantId)
    const journal = known ?? { head: ORIGIN, isTold: false, readers: 0, waiting: new Set() }
    journal.readers += 1
    this.#journals.set(tenantId, journal)
    this.#listener.open()
    if (!known) this.#look(tenantId)
    this.#poll ??= setInterval(() => void this.#turn(), this.#options.pollSeconds * 1000)
    let isOpen = true
    return {
      beyond: async (position, until) => await beyond(journal, position, until),
      [Symbol.dispose]: () => {
        if (isOpen) this.#leave(tenantId, journal)
        isOpen = false
      },
    }
  }

  #leave(tenantId: string, journal: Journal): void {
    journal.readers -= 1
    if (journal.readers === 0) this.#journals.delete(tenantId)
    if (this.#journals.size > 0) return
    clearInterval(this.#poll)
    this.#poll = undefined
  }

  #wake(tenantId: string | undefined): void {
    this.#recheckMs = RECHECK_MS
    const woken = tenantId === undefined ? [...this.#journals.keys()] : [tenantId]
    for (const one of woken) {
      const journal = this.#journals.get(one)
      if (journal) journal.isTold = true
    }
    this.#look(...woken)
  }

  /** Of several calls during one query, the next query answers all. */
  #look(...tenantIds: string[]): void {
    for (const one of tenantIds) if (this.#journals.has(one)) this.#dirty.add(one)
    this.#looking ??= this.#lookAtDirty()
      .catch(this.#options.onError)
      .finally(() => {
        this.#looking = undefined
        if (this.#dirty.size > 0) this.#look()
      })
  }

  async #lookAtDirty(): Promise<void> {
    while (this.#dirty.size > 0) {
      const tenantIds = [...this.#dirty]
      this.#dirty.clear()
      for (const row of await selectHeads(this.#options.db, tenantIds)) {
        const journal = this.#journals.get(row.tenantId)
        if (journal && row.isHeldBack) this.#lookAgain()
        if (journal && row.txId !== null) advance(journal, row)
      }
    }
  }

  #lookAgain(): void {
    this.#recheck ??= setTimeout(() => {
      this.#recheck = undefined
      this.#recheckMs = Math.min(this.#recheckMs * 2, this.#options.pollSeconds * 1000)
      this.#look(...this.#journals.keys())
    }, this.#recheckMs)
  }

  async #turn(): Promise<void> {
    const before = [...this.#journals.values()].map((journal) => ({ journal, head: journal.head }))
    this.#look(...this.#journals.keys())
    await this.#looking
    const isDeaf = before.some(
      ({ journal, head }) => !journal.isTold && comparePositions(journal.head, head) > 0,
    )
    if (isDeaf) this.#listener.renew()
    for (const { journal } of before) journal.isTold = false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#poll)
    clearTimeout(this.#recheck)
    this.#journals.clear()
    await this.#listener[Symbol.asyncDispose]()
    await this.#looking
  }
}

function advance(journal: Journal, head: Position): void {
  if (comparePositions(head, journal.head) <= 0) return
  journal.head = head
  for (const { position, wake } of journal.waiting) {
    if (comparePositions(head, position) > 0) wake()
  }
}

async function beyond(
  journal: Journal,
  position: Position,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<boolean> {
  if (signal.aborted) return false
  if (comparePositions(journal.head, position) > 0) return true
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const one = { position, wake: () => resolve(true) }
  const giveUp = () => resolve(false)
  const timer = setTimeout(giveUp, ms)
  signal.addEventListener('abort', giveUp, { once: true })
  journal.waiting.add(one)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    journal.waiting.delete(one)
  }
}

type HeadRow = {
  tenantId: string
  /** An open transaction keeps a committed event from being read. */
  isHeldBack: boolean
} & (Position | { txId: null })

/** The last stable place of each journal, if it has one: two probes of a primary key each. */
async function selectHeads(sql: Sql, tenantIds: readonly string[]): Promise<HeadRow[]> {
  return await sql<HeadRow[]>`
    select t.tenant_id, h.journal_epoch, h.tx_id::text as tx_id, h.sequence,
           exists (
             select 1
             from events e
             where e.tenant_id = t.tenant_id
               and ${isHeldBack(sql)}) as is_held_back
    from unnest(${[...tenantIds]}::uuid[]) as t (tenant_id)
    left join lateral (
      select e.journal_epoch, e.tx_id, e.sequence
      from journal e
      where e.tenant_id = t.tenant_id
        and ${isStable(sql)}
      order by e.journal_epoch desc, e.tx_id desc, e.sequence desc
      limit 1) as h on true`
}
