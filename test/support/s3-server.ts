import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { Bucket } from '#blobs/s3-store.ts'

/** An S3 service of one bucket in this process. */
export interface S3Server {
  bucket: Bucket
  /** What it keeps, by key. */
  objects: Map<string, Buffer>
  /** Methods and paths of what it was asked, also of what it refused. */
  asked: string[]
  /** Answers the next requests with this status instead. */
  fail: (status: number, times: number) => void
}

const CREDENTIALS = { accessKeyId: 'AKIDOFTHETESTS', secretAccessKey: 'secret/of+the=tests' }
const REGION = 'eu-test-1'
const NAME = 'bucket-of-the-tests'

class Refused extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/**
 * Speaks as much of the protocol as a store of whole objects needs, and is strict where services are: the
 * signature of every request (Signature Version 4), the digest and the length of what is put, ranges. It
 * shares no code with the client it is there to check.
 */
export async function startS3(t: TestContext): Promise<S3Server> {
  const objects = new Map<string, Buffer>()
  const asked: string[] = []
  let failures = { status: 503, left: 0 }
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    void answer(objects, request, response, () => {
      if (failures.left === 0) return
      failures.left -= 1
      throw new Refused(failures.status, 'SlowDown')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    bucket: {
      endpoint,
      bucket: NAME,
      region: REGION,
      ...CREDENTIALS,
      sessionToken: undefined,
      prefix: 'strata/',
      isPathStyle: true,
    },
    objects,
    asked,
    fail: (status, left) => (failures = { status, left }),
  }
}

async function answer(
  objects: Map<string, Buffer>,
  request: IncomingMessage,
  response: ServerResponse,
  disturb: () => void,
): Promise<void> {
  try {
    const body = await bodyOf(request)
    disturb()
    checkSignature(request)
    if (request.method === 'PUT') checkPayload(request, body)
    const [, bucket = '', key = ''] = /^\/([^/]+)\/(.+)$/.exec(request.url ?? '') ?? []
    if (bucket !== NAME) throw new Refused(404, 'NoSuchBucket')
    serve(objects, { method: request.method, key, range: request.headers.range, body }, response)
  } catch (error) {
    const { status, code } = error instanceof Refused ? error : new Refused(400, 'RequestTimeout')
    response.writeHead(status, { 'content-type': 'application/xml' })
    response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>no</Message></Error>`)
  }
}

function serve(
  objects: Map<string, Buffer>,
  asked: { method: string | undefined; key: string; range: string | undefined; body: Buffer },
  response: ServerResponse,
): void {
  const { method, key, range, body } = asked
  if (method === 'PUT') {
    objects.set(key, body)
    response.writeHead(200).end()
    return
  }
  if (method === 'DELETE') {
    objects.delete(key)
    response.writeHead(204).end()
    return
  }
  const bytes = objects.get(key)
  if (method !== 'GET' || !bytes) throw new Refused(404, 'NoSuchKey')
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  if (first === undefined) {
    response.writeHead(200, { 'content-length': bytes.length }).end(bytes)
    return
  }
  if (Number(first) >= bytes.length) throw new Refused(416, 'InvalidRange')
  const part = bytes.subarray(Number(first), Number(last) + 1)
  const place = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`
  response.writeHead(206, { 'content-length': part.length, 'content-range': place }).end(part)
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function checkPayload(request: IncomingMessage, body: Buffer): void {
  const { 'content-length': length, 'x-amz-content-sha256': digest } = request.headers
  if (length === undefined) throw new Refused(411, 'MissingContentLength')
  if (Number(length) !== body.length) throw new Refused(400, 'IncompleteBody')
  if (sha256(body) !== digest) throw new Refused(400, 'XAmzContentSHA256Mismatch')
}

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/
const MAX_SKEW_MS = 15 * 60_000

/** Source: AWS documentation, "Create a signed AWS API request". */
function checkSignature(request: IncomingMessage): void {
  const { headers } = request
  const match = AUTHORIZATION.exec(headers.authorization ?? '')
  const [, key, day = '', region = '', signed = '', signature = ''] = match ?? []
  if (key !== CREDENTIALS.accessKeyId) throw new Refused(403, 'InvalidAccessKeyId')
  if (region !== REGION) throw new Refused(400, 'AuthorizationHeaderMalformed')
  const date = String(headers['x-amz-date'])
  checkDate(date, day)
  const scope = `${day}/${region}/s3/aws4_request`
  const text = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical(request, signed))].join('\n')
  const secret = `AWS4${CREDENTIALS.secretAccessKey}`
  const signing = [day, region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, secret)
  if (!timingSafeEqual(hmac(signing, text), Buffer.from(signature, 'hex'))) {
    throw new Refused(403, 'SignatureDoesNotMatch')
  }
}

function checkDate(date: string, day: string): void {
  const moment = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z')
  const isNow = Math.abs(Date.now() - Date.parse(moment)) < MAX_SKEW_MS
  if (!isNow || !date.startsWith(day)) throw new Refused(403, 'RequestTimeTooSkewed')
}

function canonical({ method, url = '', headers }: IncomingMessage, signed: string): string {
  const names = signed.split(';')
  const needed = ['host', 'x-amz-content-sha256', 'x-amz-date']
  if (!needed.every((name) => names.includes(name))) throw new Refused(403, 'AccessDenied')
  const [path = '', query = ''] = url.split('?')
  return [
    method,
    path,
    query.split('&').toSorted().join('&'),
    ...names.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signed,
    headers['x-amz-content-sha256'],
  ].join('\n')
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function sha256(data: string | Buffer): string {
  return createHash('sha256').update(data).digest('hex')
}
