// Loaded only where traces are exported: the SDK is heavier than everything else that a process imports.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Context, Span as OtelSpan } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import * as sdk from '@opentelemetry/sdk-trace'
import type { TraceParent } from '#lib/traceparent.ts'
import type { Span, SpanOptions, Tracing } from '#lib/tracing.ts'
import { resourceOf } from './otel-resource.ts'
import type { Named } from './otel-resource.ts'

/** Names of `OTEL_TRACES_SAMPLER`. */
export type SamplerName = `${'' | 'parentbased_'}${'always_on' | 'always_off' | 'traceidratio'}`

export interface OtelSettings extends Named {
  /** Whole address, with `/v1/traces`. */
  url: string
  sampler: SamplerName
  /** Share of the traces that are kept, where the sampler asks for one. */
  ratio: number
  /** Longest wait of a span that has ended. */
  delayMs: number
  /** Told why spans could not be exported. */
  onProblem: (message: string) => void
}

/**
 * Traces that are sent to a collector over OTLP/HTTP, in batches, behind the back of the work. Disposing sends
 * what is left, for five seconds at most. Headers, time-outs, certificates and the resource are what the standard
 * variables (`OTEL_*`) say. Nothing is registered globally but where problems are told.
 */
export function createOtelTracing(settings: OtelSettings): Tracing {
  const { url, sampler, ratio, delayMs, onProblem } = settings
  tellProblems(onProblem)
  const processor = new sdk.BatchSpanProcessor({
    exporter: new OTLPTraceExporter({ url }),
    scheduledDelayMillis: delayMs,
  })
  const provider = new sdk.TracerProvider({
    resource: resourceOf(settings),
    sampler: samplerOf(sampler, ratio),
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('strata', settings.version)
  const open = new AsyncLocalStorage<OtelSpan>()
  const contextOf = (parent: TraceParent | undefined): Context => {
    if (parent) {
      const { traceId, spanId, flags } = parent
      const caller = { traceId, spanId, traceFlags: flags, isRemote: true }
      return trace.setSpanContext(ROOT_CONTEXT, caller)
    }
    const around = open.getStore()
    return around ? trace.setSpan(ROOT_CONTEXT, around) : ROOT_CONTEXT
  }
  return {
    async span(name, options, work) {
      if (options.onlyInside === true && !open.getStore()) return await work(SILENT)
      const span = tracer.startSpan(name, startOf(options), contextOf(options.parent))
      const { shown, end } = shownAs(span)
      try {
        return await open.run(span, () => work(shown))
      } catch (error) {
        shown.fail(error instanceof Error ? error.name : typeof error)
        throw error
      } finally {
        end()
      }
    },
    headers() {
      const span = open.getStore()
      return span ? { traceparent: traceparentOf(span) } : {}
    },
    ids() {
      const span = open.getStore()
      if (!span) return {}
      const { traceId, spanId } = span.spanContext()
      return { traceId, spanId }
    },
    async [Symbol.asyncDispose]() {
      const late = AbortSignal.timeout(FLUSH_MS)
      const over = new Promise<void>((resolve) => late.addEventListener('abort', () => resolve()))
      await Promise.race([provider.shutdown().catch(() => {}), over])
    },
  }
}

const FLUSH_MS = 5000
const SILENT: Span = { set: () => {}, rename: () => {}, fail: () => {}, discard: () => {} }

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
} as const

function startOf({ kind = 'internal', attributes = {} }: SpanOptions) {
  return { kind: KINDS[kind], attributes: { ...attributes } }
}

/** A span that is discarded never ends, so nobody hears of it. */
function shownAs(span: OtelSpan): { shown: Span; end: () => void } {
  let isDiscarded = false
  return {
    shown: {
      set: (attributes) => void span.setAttributes({ ...attributes }),
      rename: (name) => void span.updateName(name),
      fail: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
      discard: () => void (isDiscarded = true),
    },
    end: () => {
      if (!isDiscarded) span.end()
    },
  }
}

/** Source: W3C Trace Context, 3.2. */
function traceparentOf(span: OtelSpan): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

function samplerOf(name: SamplerName, ratio: number): sdk.Sampler {
  const plain = name.replace(/^parentbased_/, '')
  const root =
    plain === 'traceidratio'
      ? new sdk.TraceIdRatioBasedSampler(ratio)
      : plain === 'always_off'
        ? new sdk.AlwaysOffSampler()
        : new sdk.AlwaysOnSampler()
  return plain === name ? root : new sdk.ParentBasedSampler({ root })
}

/** The SDK tells of a failed export through its diagnostics alone. */
function tellProblems(onProblem: (message: string) => void): void {
  const tell = (message: string) => onProblem(message)
  const logger = { error: tell, warn: tell, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

function ignore(): void {}
