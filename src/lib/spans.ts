/** A stretch of text, from `start` up to and without `end`, in UTF-16 units. */
export interface Span {
  start: number
  end: number
}

/** Puts `replacement(span)` in place of each span; the spans ascend and do not overlap. */
export function replaceSpans<S extends Span>(
  text: string,
  spans: readonly S[],
  replacement: (span: S) => string,
): string {
  if (spans.length === 0) return text
  const parts: string[] = []
  let at = 0
  for (const span of spans) {
    parts.push(text.slice(at, span.start), replacement(span))
    at = span.end
  }
  parts.push(text.slice(at))
  return parts.join('')
}

/** The first place at or after `from` where `isInside` fails, or the length of the text. */
export function runEnd(text: string, from: number, isInside: (code: number) => boolean): number {
  let at = from
  while (at < text.length && isInside(text.charCodeAt(at))) at += 1
  return at
}

/** White space by code unit, as `\s` has it. */
export function isSpace(code: number): boolean {
  if (code < 0x80) return code === 0x20 || (code >= 0x09 && code <= 0x0d)
  return code === 0xa0 || (code >= 0x1680 && /\s/.test(String.fromCharCode(code)))
}
