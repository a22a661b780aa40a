import { setTimeout as sleep } from 'node:timers/promises'
import type { StreamMessage } from '#contract/event-stream.ts'
import type { JournalEvent } from '#contract/events.ts'
import { AppError, ERROR_CODES } from '#lib/errors.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { TransportError } from './client.ts'
import type { ClientOptions } from './client.ts'
import { TRANSPORTS } from './event-transports.ts'
import type { StreamQuery, TransportName } from './event-transports.ts'

export interface FollowOptions {
  /** Where to begin and what to leave out. */
  query?: Omit<StreamQuery, 'closeAfterSeconds'>
  signal?: AbortSignal
  /** In the order of preference: when one does not get through, the next one is tried. */
  transports?: readonly [TransportName, ...TransportName[]]
  /** A connection that is silent for so long is given up; the server's beats come more often. */
  silenceMs?: number
  /** First and longest pause before a new connection; the pause doubles and is drawn by lot. */
  pauseMs?: { min: number; max: number }
  /** Told why the connection was lost, before it is made again. */
  onTrouble?: (error: Error) => void
}

export interface EventReader extends AsyncIterable<JournalEvent> {
  /** Behind everything that has been handled: where another reader would go on. */
  readonly cursor: string | undefined
}

const ORDER: readonly [TransportName, ...TransportName[]] = ['websocket', 'sse', 'pages']
const SILENCE_MS = 90_000
const PAUSE_MS = { min: 200, max: 30_000 }

/**
 * Every event of the journal after a place, in order and each one once, through whatever happens to the
 * connection or the server, for as long as it is iterated. An event counts as handled when the next one is
 * asked for; what `cursor` then says can be kept, and a reader begun there misses nothing.
 *
 * Throws the refusals that trying again does not change as `AppError` (a credential that is no longer
 * good, a place that the journal does not have any more), and the reason of the signal.
 */
export function followEvents(client: ClientOptions, options: FollowOptions = {}): EventReader {
  const { cursor, after = cursor } = options.query ?? {}
  const state: State = { cursor: after }
  return {
    get cursor() {
      return state.cursor
    },
    [Symbol.asyncIterator]: () => follow(client, options, state),
  }
}

interface State {
  cursor: string | undefined
}

async function* follow(
  client: ClientOptions,
  options: FollowOptions,
  state: State,
): AsyncGenerator<JournalEvent> {
  const { transports = ORDER, onTrouble = () => {} } = options
  let turn = 0
  for (let failures = 0; ; failures += 1) {
    const name = transports[turn % transports.length] ?? transports[0]
    let isHeard = false
    let trouble: Error = new TransportError(`Cannot follow ${client.url}: the connection was cut`)
    try {
      const hear = () => (isHeard = true)
      for await (const event of connect(client, options, { state, name, hear })) yield event
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!passes(error)) throw error
      trouble = error
    }
    if (isHeard) failures = 0
    else turn += 1
    onTrouble(trouble)
    await rest(failures, options, trouble)
  }
}

interface Connection {
  state: State
  name: TransportName
  /** Called with every message. */
  hear: () => void
}

/** The events of one connection; the place moves on when one is handled, or passed over. */
async function* connect(
  client: ClientOptions,
  options: FollowOptions,
  { state, name, hear }: Connection,
): AsyncGenerator<JournalEvent> {
  for await (const message of listen(client, options, { state, name })) {
    hear()
    if (message.type === 'refused') throw refusalIn(message)
    if (message.type === 'event') yield message.event
    state.cursor = cursorOf(message) ?? state.cursor
  }
}

/** The messages of one connection, which is given up when it falls silent. */
async function* listen(
  client: ClientOptions,
  { query, signal, silenceMs = SILENCE_MS }: FollowOptions,
  { state, name }: Omit<Connection, 'hear'>,
): AsyncGenerator<StreamMessage> {
  const { cursor: _, after: __, tail, ...filter } = query ?? {}
  const place = state.cursor === undefined ? { tail } : { after: state.cursor }
  const silent = new AbortController()
  const either = signal ? AbortSignal.any([signal, silent.signal]) : silent.signal
  const reason = new TransportError(`Cannot follow ${client.url}: it fell silent`)
  const begin = () => setTimeout(() => silent.abort(reason), silenceMs)
  let timer = begin()
  try {
    for await (const message of TRANSPORTS[name](client, { ...filter, ...place }, either)) {
      // How long the handler takes says nothing about the connection.
      clearTimeout(timer)
      yield message
      timer = begin()
    }
    either.throwIfAborted()
  } catch (error) {
    signal?.throwIfAborted()
    throw silent.signal.aborted ? reason : error
  } finally {
    clearTimeout(timer)
  }
}

function cursorOf(message: Exclude<StreamMessage, { type: 'refused' }>): string | null {
  return message.type === 'event' ? message.event.cursor : message.cursor
}

/** What the server may answer now and not a moment later. */
const PASSING: ReadonlySet<ErrorCode> = new Set([
  'rate_limited',
  'not_ready',
  'internal_error',
  'iam_unavailable',
  'policy_unavailable',
])

function passes(error: unknown): error is Error {
  return error instanceof TransportError || (error instanceof AppError && PASSING.has(error.code))
}

function refusalIn({ error }: Extract<StreamMessage, { type: 'refused' }>): Error {
  const code = ERROR_CODES.find((known) => known === error.code)
  if (!code) return new Error(`Cannot follow the journal: ${error.code}: ${error.message}`)
  return new AppError(code, error.message, { details: error.details })
}

/** Waits min * 2^failures, at most max, times a number from 0.5 to 1; or as long as the server asks. */
async function rest(
  failures: number,
  { pauseMs: { min, max } = PAUSE_MS, signal }: FollowOptions,
  trouble: Error,
): Promise<void> {
  const wait = Math.min(min * 2 ** Math.min(failures, 20), max) * (0.5 + Math.random() / 2)
  const asked = trouble instanceof AppError ? (trouble.retryAfterSeconds ?? 0) * 1000 : 0
  await sleep(Math.max(wait, asked), undefined, { ...(signal && { signal }) })
}
