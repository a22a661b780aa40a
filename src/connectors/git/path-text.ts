import { isUtf8 } from 'node:buffer'

const BACKSLASH = 0x5c
const QUOTE = 0x22
const DELETE = 0x7f
/** Beyond ASCII: the other control characters and the line separators. */
const INVISIBLE = /[\u0080-\u009f\u2028\u2029]/
const ESCAPES: ReadonlyMap<number, string> = new Map([
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [QUOTE, '\\"'],
  [BACKSLASH, '\\\\'],
])

/**
 * A path of a repository as text, the way git itself prints it: unchanged when it is clean UTF-8,
 * otherwise in quotes with C escapes (`"tab\\there"`, `"\\377"`). Different paths give different texts,
 * and no text holds a control character or a line separator.
 */
export function pathText(bytes: Buffer): string {
  const valid = isUtf8(bytes) && !INVISIBLE.test(bytes.toString('utf8'))
  if (valid && !bytes.some(needsEscape)) return bytes.toString('utf8')
  let text = ''
  let plainFrom = 0
  for (const [index, byte] of bytes.entries()) {
    if (!needsEscape(byte) && (valid || byte < 0x80)) continue
    text += bytes.toString('utf8', plainFrom, index) + escaped(byte)
    plainFrom = index + 1
  }
  return `"${text}${bytes.toString('utf8', plainFrom)}"`
}

function needsEscape(byte: number): boolean {
  return byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte === DELETE
}

function escaped(byte: number): string {
  return ESCAPES.get(byte) ?? `\\${byte.toString(8).padStart(3, '0')}`
}
