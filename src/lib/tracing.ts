import type { TraceParent } from './traceparent.ts'

export type Attributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  /** Which side of a call this is; `internal` unless told otherwise. */
  kind?: 'server' | 'client' | 'internal'
  attributes?: Attributes
  /** The caller's place in its trace; otherwise the span that is open around the call, if any. */
  parent?: TraceParent | undefined
  /** True makes no span where none is open: what is worth nothing by itself. */
  onlyInside?: boolean
}

/** A piece of work under way, as those see it who do it. */
export interface Span {
  set: (attributes: Attributes) => void
  /** Names it by what is known only later. */
  rename: (name: string) => void
  /** It did not do what it was to do; an error that is thrown says so by itself. */
  fail: (reason: string) => void
  /** It turned out not to be worth telling. */
  discard: () => void
}

/** Traces of what a process does. Attributes are ids, numbers and words of ours, never content. */
export interface Tracing extends AsyncDisposable {
  /** Runs the work within a span; what it calls is found inside it. */
  span: <T>(name: string, options: SpanOptions, work: (span: Span) => Promise<T>) => Promise<T>
  /** What tells a service that is called from here where it stands (`traceparent`); empty outside a span. */
  headers: () => Record<string, string>
  /** The open span, for a line of the log. */
  ids: () => { traceId?: string; spanId?: string }
}

const NO_SPAN: Span = { set: () => {}, rename: () => {}, fail: () => {}, discard: () => {} }
const NOTHING = {}

/** Traces nothing and costs a call. */
export const NO_TRACING: Tracing = {
  span: (_name, _options, work) => work(NO_SPAN),
  headers: () => NOTHING,
  ids: () => NOTHING,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}
