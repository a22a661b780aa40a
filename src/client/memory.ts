import type { Route } from '#contract/route.ts'
import { ClientRefused } from '#lib/client-tokens.ts'
import type { ClientTokens } from '#lib/client-tokens.ts'
import { send, TransportError } from './client.ts'
import type { CallInput } from './client.ts'

/** Where the memory service is and how we show ourselves to it. */
export interface MemoryOptions {
  url: string
  apiKey: string
  /** Access tokens, which then go instead of the key. */
  tokens?: ClientTokens
  /** Of a service in the same process. */
  fetch?: typeof fetch
  around?: AroundMemory
}

/** What came of asking memory. Everything that can happen is an answer; nothing is thrown. */
export type MemoryAnswer =
  | { kind: 'ok'; status: number; body: Record<string, unknown> }
  /** Memory's own refusal; its words are for us and are never shown to a caller. */
  | { kind: 'refused'; status: number; body: Record<string, unknown>; retryAfterSeconds?: number }
  /** A success that is no JSON object, or one that could not be passed on. */
  | { kind: 'malformed'; status: number }
  | { kind: 'unreachable'; cause: unknown }
  /** Our own deadline passed, or the caller went away. */
  | { kind: 'timeout' }

export interface Asking {
  signal: AbortSignal
  /** Forwarded as `X-Run-Id`. */
  traceRunId?: string
  /** Forwarded as it is, unless we take part in the trace ourselves. */
  traceparent?: string | undefined
}

/** Stands around every question: asks it, once, with headers of its own. */
export type AroundMemory = (
  route: Route,
  ask: (headers: Record<string, string>) => Promise<MemoryAnswer>,
) => Promise<MemoryAnswer>

const MAX_ANSWER_BYTES = 32 * 1024 * 1024
const MAX_DEPTH = 200

/** Asks memory and never throws: a failure of memory is an answer that the caller has to deal with. */
export async function askMemory<R extends Route>(
  options: MemoryOptions,
  route: R,
  input: CallInput<R>,
  asking: Asking,
): Promise<MemoryAnswer> {
  const { signal, traceRunId, traceparent } = asking
  const given = {
    ...input.headers,
    ...(traceRunId !== undefined && { 'x-run-id': traceRunId }),
    ...(traceparent !== undefined && { traceparent }),
  }
  const ask = async (own: Record<string, string>): Promise<MemoryAnswer> => {
    const whole = { ...input, headers: { ...given, ...own }, signal }
    const asked = withCredential(options, route, (token) => askOnce(options, token, route, whole))
    try {
      return await Promise.race([asked, aborted(signal)])
    } catch (error) {
      return signal.aborted ? { kind: 'timeout' } : { kind: 'unreachable', cause: error }
    }
  }
  return await (options.around ? options.around(route, ask) : ask({}))
}

/**
 * Asks with the key or with an access token. A token that is refused is dropped and, when there is another
 * one, the question asked once more: nothing was done about it. An issuer that refuses us is as good as a
 * memory that does.
 */
async function withCredential(
  { apiKey, tokens }: MemoryOptions,
  { access }: Route,
  ask: (token: string) => Promise<MemoryAnswer>,
): Promise<MemoryAnswer> {
  if (!tokens || access === 'public') return await ask(access === 'public' ? '' : apiKey)
  try {
    const token = await tokens.get()
    const answer = await ask(token)
    if (answer.kind !== 'refused' || answer.status !== 401) return answer
    tokens.drop(token)
    const other = await tokens.get()
    return other === token ? answer : await ask(other)
  } catch (error) {
    if (error instanceof ClientRefused) return { kind: 'refused', status: 401, body: {} }
    throw error
  }
}

async function askOnce<R extends Route>(
  { url, fetch: inProcess }: MemoryOptions,
  token: string,
  route: R,
  input: CallInput<R>,
): Promise<MemoryAnswer> {
  const client = { url, token, ...(inProcess && { fetch: inProcess }) }
  const response = await send(client, route, input)
  const text = await readText(response)
  return response.ok ? success(response, text) : refusal(response, text)
}

/** An in-process fetch does not know our deadline, so we do not rely on it to keep it. */
function aborted(signal: AbortSignal): Promise<MemoryAnswer> {
  return new Promise((resolve) => {
    const stop = () => resolve({ kind: 'timeout' })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

/**
 * True when the same question may be answered later: no answer, an answer that is not memory's, 5xx,
 * 429, and 401 or 403, which are faults of our credential and not of the question.
 */
export function isRetryable(answer: MemoryAnswer): boolean {
  if (answer.kind === 'ok') return false
  if (answer.kind !== 'refused') return true
  return answer.status >= 500 || [401, 403, 429].includes(answer.status)
}

/** One line for an operator: says what happened, never what memory wrote. */
export function describeAnswer(answer: MemoryAnswer): string {
  if (answer.kind === 'refused') return `memory refused with status ${answer.status}`
  if (answer.kind === 'malformed') {
    return `memory answered ${answer.status} with something that is not its contract`
  }
  return PLAIN[answer.kind]
}

const PLAIN = {
  ok: 'memory answered',
  unreachable: 'memory cannot be reached',
  timeout: 'memory did not answer in time',
} as const

async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > MAX_ANSWER_BYTES) throw new TransportError('The answer of memory is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function success({ status }: Response, text: string): MemoryAnswer {
  const body = parse(text)
  return isObject(body) && isSendable(body)
    ? { kind: 'ok', status, body }
    : { kind: 'malformed', status }
}

function refusal(response: Response, text: string): MemoryAnswer {
  const { status } = response
  const body = parse(text)
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return {
    kind: 'refused',
    status,
    body: isObject(body) ? body : {},
    ...(Number.isFinite(retryAfterSeconds) && { retryAfterSeconds }),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * `1e999` parses to Infinity, which JSON cannot say, and what is nested without end cannot be written
 * again without running out of stack.
 */
function isSendable(root: object): boolean {
  const open: [unknown, number][] = [[root, 0]]
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, depth] = next
    if (depth > MAX_DEPTH || (typeof value === 'number' && !Number.isFinite(value))) return false
    if (typeof value !== 'object' || value === null) continue
    for (const item of Object.values(value)) open.push([item, depth + 1])
  }
  return true
}
