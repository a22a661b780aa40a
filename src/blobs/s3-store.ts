import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import type { ByteRange } from '#lib/byte-range.ts'
import { noted, unavailable } from './store.ts'
import type { BlobStore, Source } from './store.ts'

/** A bucket of a service that speaks the protocol of Amazon S3. */
export interface Bucket {
  /** URL of the service, without the bucket. */
  endpoint: string
  bucket: string
  region: string
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
  /** Stands before every key; may be empty. */
  prefix: string
  /** The bucket is the first step of the path, not the first label of the host. */
  isPathStyle: boolean
}

const ANSWER_MS = 10_000
const ATTEMPTS = 3
const PAUSE_MS = 50
const MAX_ERROR_CHARS = 300

/** A store in a bucket. What is sent is signed with its SHA-256, so the service checks it too. */
export function createS3Store(bucket: Bucket): BlobStore {
  const { accessKeyId, secretAccessKey, sessionToken, region } = bucket
  const aws = new AwsClient({
    accessKeyId,
    secretAccessKey,
    ...(sessionToken !== undefined && { sessionToken }),
    region,
    service: 's3',
    retries: 0,
  })
  const ask: Ask = async (method, key, { headers, body, signal }) => {
    const request = await aws.sign(urlOf(bucket, key), {
      method,
      ...(headers && { headers }),
      ...(body !== undefined && { body }),
    })
    return await fetch(request, { signal, redirect: 'manual' })
  }
  return {
    put: (key, source, signal) => put(ask, key, source, signal),
    get: (key, range) => get(ask, key, range),
    async remove(key) {
      await again(async () => {
        const signal = AbortSignal.timeout(ANSWER_MS)
        const response = await ask('DELETE', key, { signal })
        const error = response.ok ? undefined : await refusal('DELETE', response)
        if (error && error.code !== 'NoSuchKey') throw error
        if (!error) await response.body?.cancel()
      })
    },
    async check() {
      const source = { sizeBytes: 0, sha256: EMPTY, chunks: nothing() }
      await put(ask, 'probe', source, AbortSignal.timeout(ANSWER_MS))
    },
  }
}

type Ask = (
  method: 'GET' | 'PUT' | 'DELETE',
  key: string,
  init: {
    headers?: Record<string, string>
    body?: ReadableStream<Uint8Array> | string
    signal: AbortSignal
  },
) => Promise<Response>

/** SHA-256 of nothing. */
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

async function* nothing(): AsyncGenerator<Uint8Array> {}

function urlOf({ endpoint, bucket, prefix, isPathStyle }: Bucket, key: string): string {
  const url = new URL(endpoint)
  const base = url.pathname.replace(/\/$/, '')
  if (isPathStyle) url.pathname = `${base}/${bucket}/${prefix}${key}`
  else {
    url.hostname = `${bucket}.${url.hostname}`
    url.pathname = `${base}/${prefix}${key}`
  }
  return url.href
}

async function put(ask: Ask, key: string, source: Source, signal: AbortSignal): Promise<void> {
  const { sizeBytes, sha256 } = source
  const { chunks, failure } = noted(source.chunks)
  try {
    const stream = sizeBytes > 0 ? ReadableStream.from(chunks) : await drained(chunks)
    const headers = { 'content-length': String(sizeBytes), 'x-amz-content-sha256': sha256 }
    const response = await ask('PUT', key, { headers, body: stream, signal })
    if (!response.ok) throw await refusal('PUT', response)
    await response.body?.cancel()
  } catch (error) {
    throw failure() ?? unavailable(error)
  }
}

/** Lets the source find out that nothing is what there should be. */
async function drained(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  for await (const _ of chunks);
  return ''
}

async function* get(ask: Ask, key: string, range: ByteRange): AsyncGenerator<Uint8Array> {
  const response = await again(() => askForPart(ask, key, range))
  try {
    for await (const chunk of response?.body ?? nothing()) yield chunk
  } catch (error) {
    throw unavailable(error)
  }
}

/** The answer with the part; none where there is no such object or part, for the caller to notice. */
async function askForPart(
  ask: Ask,
  key: string,
  { start, end }: ByteRange,
): Promise<Response | undefined> {
  const headers = { range: `bytes=${start}-${end - 1}` }
  const answer = await answered((signal) => ask('GET', key, { headers, signal }))
  if (answer.status === 206) return answer
  if (answer.ok) {
    await answer.body?.cancel()
    throw new S3Error('GET', answer.status, 'without the range that was asked for')
  }
  const error = await refusal('GET', answer)
  if (error.code === 'NoSuchKey' || error.code === 'InvalidRange') return undefined
  throw error
}

/** Waits a while for the answer to begin, and as long as it takes for it to end. */
async function answered(work: (signal: AbortSignal) => Promise<Response>): Promise<Response> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(new Error('No answer in time')), ANSWER_MS)
  try {
    return await work(late.signal)
  } finally {
    clearTimeout(timer)
  }
}

/** Tries what may be done twice a few times more when the service is out of breath. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      const isFinal = error instanceof S3Error && error.status < 500 && error.status !== 429
      if (isFinal || attempt === ATTEMPTS) throw unavailable(error)
      await sleep(PAUSE_MS * 2 ** attempt)
    }
  }
}

/** What an S3 service refused. */
class S3Error extends Error {
  override name = 'S3Error'
  readonly status: number
  readonly code: string

  constructor(method: string, status: number, code: string) {
    super(`The S3 service answered ${status} ${code} to ${method}`)
    this.status = status
    this.code = code
  }
}

async function refusal(method: string, response: Response): Promise<S3Error> {
  const text = (await response.text()).slice(0, MAX_ERROR_CHARS)
  const [, code = ''] = /<Code>([A-Za-z0-9.]{1,100})<\/Code>/.exec(text) ?? []
  return new S3Error(method, response.status, code)
}
