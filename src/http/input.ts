import type { Context } from 'hono'
import type { z } from 'zod'
import type { Route } from '#contract/route.ts'
import { AppError, ERROR_CODES } from '#lib/errors.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { issuePhrase } from '#lib/issue-phrase.ts'
import { badText, parseJson } from '#lib/json.ts'

export interface BodyLimits {
  defaultBytes: number
  knowledgeBytes: number
}

type Place = 'path' | 'query' | 'body'

/**
 * Reads and checks everything a request carries. Throws `invalid_request` with one entry per fault in
 * `details.errors` (`loc` such as `body.title`, `message`), the code of a rule that has its own (see
 * `coded`), or `request_too_large`. Nothing of a refused value is echoed.
 */
export async function readInput(c: Context, route: Route, limits: BodyLimits, rename: Rename) {
  const limit = route.bodyLimit === 'knowledge' ? limits.knowledgeBytes : limits.defaultBytes
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE'
  const params = check(route.params, textOnly(pathParams(c, route), 'path'), 'path')
  const query = check(route.query, textOnly(queryOf(c), 'query'), 'query')
  const raw = hasBody && !route.bytes ? await readJson(c, limit) : {}
  const body = check(route.body, rename(route.body, raw), 'body', route.fieldCodes)
  return { params, query, body, raw }
}

/** How body keys are brought to the contract's spelling; the identity for an API with one spelling. */
export type Rename = (schema: z.ZodType, value: unknown) => unknown

/** The names of hono's parameters: a placeholder with a verb behind it holds both (see `honoPath`). */
function pathParams(c: Context, route: Route): Record<string, string> {
  const values = c.req.param() as Record<string, string>
  return Object.fromEntries(
    [...route.path.matchAll(/\{(\w+)\}(:[\w-]+)?/g)].map(([, name = '', verb = '']) => {
      const value = values[name] ?? ''
      return [name, verb ? value.slice(0, -verb.length) : value]
    }),
  )
}

/** Hono cannot route `/:ref:claim`; one parameter with a pattern that ends in the verb works. */
export function honoPath(path: string): string {
  return path
    .replaceAll(/\{(\w+)\}(:[\w-]+)/g, ':$1{[^/]+$2}')
    .replaceAll(/\{(\w+)\}/g, ':$1{[^/]+}')
}

/** Every parameter as it was sent, whatever its name; one that comes several times is a list. */
function queryOf(c: Context): Record<string, string | string[]> {
  const { searchParams } = new URL(c.req.url)
  return Object.fromEntries(
    [...new Set(searchParams.keys())].map((name) => {
      const values = searchParams.getAll(name)
      return [name, values.length === 1 ? (values[0] ?? '') : values]
    }),
  )
}

function textOnly<T extends Record<string, string | string[]>>(values: T, place: Place): T {
  for (const [name, value] of Object.entries(values)) {
    const message = [value].flat().map(badText).find(Boolean) ?? badText(name)
    if (message !== undefined) throw invalid([{ loc: `${place}.${name}`, message }])
  }
  return values
}

function check(
  schema: z.ZodType,
  value: unknown,
  place: Place,
  fieldCodes: Route['fieldCodes'] = {},
): unknown {
  const result = schema.safeParse(value, { error: issuePhrase })
  if (result.success) return result.data
  const codes = result.error.issues.map(
    (issue) => codeOf(issue) ?? fieldCodes[String(issue.path[0])],
  )
  const [first] = codes
  if (first !== undefined && codes.every((code) => code !== undefined)) {
    const [issue] = result.error.issues
    const details = (issue as { params?: { details?: Record<string, unknown> } }).params?.details
    throw new AppError(first, `Cannot read the request: ${issue?.message}`, {
      details: { ...details, errors: faultsOf(result.error, place) },
    })
  }
  throw invalid(faultsOf(result.error, place))
}

function codeOf(issue: z.core.$ZodIssue): ErrorCode | undefined {
  if (issue.code !== 'custom') return undefined
  const code: unknown = issue.params?.['code']
  return ERROR_CODES.find((known) => known === code)
}

/** A refusal stays small, however much was wrong. */
const MAX_FAULTS = 50
const MAX_LOC_CHARS = 200

function faultsOf(error: z.ZodError, place: Place) {
  return error.issues
    .slice(0, MAX_FAULTS)
    .flatMap((issue) => faults(issue, place))
    .slice(0, MAX_FAULTS)
    .map(({ loc, message }) => ({ loc: loc.slice(0, MAX_LOC_CHARS), message }))
}

/** An unknown field is reported under its own name, as the caller wrote it. */
function faults(issue: z.core.$ZodIssue, place: Place): { loc: string; message: string }[] {
  const path = [place, ...issue.path.map(String)]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ loc: [...path, key].join('.'), message: 'is not known' }))
  }
  return [{ loc: path.join('.'), message: issue.message }]
}

function invalid(errors: { loc: string; message: string }[]): AppError {
  const [first] = errors
  return new AppError(
    'invalid_request',
    `Cannot read the request: ${first?.loc} ${first?.message}`,
    { details: { errors } },
  )
}

async function readJson(c: Context, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(c.req.raw, maxBytes)
  if (bytes.length === 0) return {}
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid([{ loc: 'body', message: 'must be UTF-8' }])
  }
  const result = parseJson(text)
  if (result.ok) return result.value
  const { path, message } = result.problem
  throw invalid([{ loc: ['body', ...path].join('.'), message }])
}

/** The body of a request in chunks, to be read at most once. Throws `invalid_request` when it is cut. */
export async function* bodyChunks(request: Request): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) yield chunk
  } catch {
    throw notWhole()
  }
}

function notWhole(): AppError {
  return invalid([{ loc: 'body', message: 'must be whole' }])
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const tooLarge = () =>
    new AppError(
      'request_too_large',
      `Cannot read the request: its body exceeds ${maxBytes} bytes`,
      {
        details: { maxBytes },
      },
    )
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of bodyChunks(request)) {
    size += chunk.length
    if (size > maxBytes) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
