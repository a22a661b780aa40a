/** The place in a trace that a caller names. */
export interface TraceParent {
  traceId: string
  spanId: string
  /** Bit 0: the caller records this trace. */
  flags: number
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/**
 * Reads the header `traceparent`; undefined when it is none. Later versions may append fields, version 00 may
 * not. Source: W3C Trace Context, 3.2.
 */
export function parseTraceparent(header: string | undefined): TraceParent | undefined {
  const [, version, traceId = '', spanId = '', flags = '', rest] = FORM.exec(header ?? '') ?? []
  if (version === undefined || version === 'ff') return undefined
  if (version === '00' && rest !== undefined) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}
