import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'

/** Source: opentelemetry-proto, trace/v1/trace.proto, in its JSON form. */
const Value = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
})
const Attributes = z.array(z.looseObject({ key: z.string(), value: Value })).default([])
const Sent = z.looseObject({
  resourceSpans: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: Attributes }),
      scopeSpans: z.array(
        z.looseObject({
          spans: z.array(
            z.looseObject({
              traceId: z.string().regex(/^[0-9a-f]{32}$/),
              spanId: z.string().regex(/^[0-9a-f]{16}$/),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              startTimeUnixNano: z.string().regex(/^\d+$/),
              endTimeUnixNano: z.string().regex(/^\d+$/),
              attributes: Attributes,
              status: z.looseObject({ code: z.number().optional() }).default({}),
            }),
          ),
        }),
      ),
    }),
  ),
})

/** Source: opentelemetry-proto, metrics/v1/metrics.proto, in its JSON form. */
const Points = z.object({
  dataPoints: z.array(
    z.object({
      attributes: Attributes,
      asDouble: z.number().optional(),
      count: z.number().optional(),
      sum: z.number().optional(),
      bucketCounts: z.array(z.number()).optional(),
      explicitBounds: z.array(z.number()).optional(),
      startTimeUnixNano: z.string().regex(/^\d+$/),
      timeUnixNano: z.string().regex(/^\d+$/),
    }),
  ),
  isMonotonic: z.boolean().optional(),
  aggregationTemporality: z.number().optional(),
})
const SentMetrics = z.looseObject({
  resourceMetrics: z.array(
    z.looseObject({
      resource: z.looseObject({ attributes: Attributes }),
      scopeMetrics: z.array(
        z.looseObject({
          metrics: z.array(
            z.object({
              name: z.string(),
              description: z.string(),
              unit: z.string(),
              sum: Points.optional(),
              gauge: Points.optional(),
              histogram: Points.optional(),
            }),
          ),
        }),
      ),
    }),
  ),
})

export type ReceivedMetric = { service: string } & z.infer<
  typeof SentMetrics
>['resourceMetrics'][number]['scopeMetrics'][number]['metrics'][number]

export interface ReceivedSpan {
  service: string
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  name: string
  kind: 'internal' | 'server' | 'client'
  attributes: Record<string, string | number | boolean | undefined>
  failed: boolean
}

export interface OtlpReceiver {
  url: string
  spans: ReceivedSpan[]
  /** As they were sent last. */
  metrics: () => ReceivedMetric[]
  /** Headers of the requests that brought them. */
  headers: IncomingMessage['headers'][]
  /** Everything that was sent, as it was. */
  text: () => string
}

/** A collector on a port of this machine: decodes what is sent to `/base/v1/traces` and `/base/v1/metrics`. */
export async function otlpReceiver(t: TestContext): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  let metrics: ReceivedMetric[] = []
  const headers: IncomingMessage['headers'][] = []
  let text = ''
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [, signal] = /^\/base\/v1\/(traces|metrics)$/.exec(request.url ?? '') ?? []
      if (request.method !== 'POST' || signal === undefined) {
        response.writeHead(404).end()
        return
      }
      const body = Buffer.concat(chunks)
      const json = (
        request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      ).toString()
      text += json
      headers.push(request.headers)
      if (signal === 'metrics') metrics = metricsOf(SentMetrics.parse(JSON.parse(json)))
      else spans.push(...spansOf(Sent.parse(JSON.parse(json))))
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/base`,
    spans,
    metrics: () => metrics,
    headers,
    text: () => text,
  }
}

const KINDS: Readonly<Record<number, ReceivedSpan['kind']>> = {
  1: 'internal',
  2: 'server',
  3: 'client',
}
const FAILED = 2

function spansOf({ resourceSpans }: z.infer<typeof Sent>): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans
      .flatMap((scope) => scope.spans)
      .map(({ traceId, spanId, parentSpanId, name, kind, attributes, status }) => ({
        service,
        traceId,
        spanId,
        parentSpanId: parentSpanId === '' ? undefined : parentSpanId,
        name,
        kind: KINDS[kind] ?? 'internal',
        attributes: valuesOf(attributes),
        failed: status.code === FAILED,
      }))
  })
}

function metricsOf({ resourceMetrics }: z.infer<typeof SentMetrics>): ReceivedMetric[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeMetrics.flatMap(({ metrics }) => metrics).map((metric) => ({ service, ...metric }))
  })
}

export function valuesOf(attributes: z.infer<typeof Attributes>): ReceivedSpan['attributes'] {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const { stringValue, intValue, doubleValue, boolValue } = value
      const number = intValue === undefined ? doubleValue : Number(intValue)
      return [key, stringValue ?? number ?? boolValue]
    }),
  )
}
