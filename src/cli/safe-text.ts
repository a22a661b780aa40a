import { dropInvisible } from '#lib/invisible.ts'

/** ECMA-48: control sequences (CSI) and strings (OSC, DCS, SOS, PM, APC), bounded so that it stays linear. */
const SEQUENCES =
  // oxlint-disable-next-line no-control-regex -- escapes are what this is about
  /(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]{0,512}(?:\x07|\x1b\\|\x9c)/g
const UNSAFE_IN_JSON = /[\p{Cc}\p{DI}\p{Bidi_C}\u2028\u2029\ufff9-\ufffb]/gu

/** Text of others for a terminal, lines kept: nothing in it can move the cursor, hide or reorder. */
export function safeBlock(text: string): string {
  return dropInvisible(text.replaceAll(SEQUENCES, ''))
}

/** The same as one line; its spaces stay. */
export function safeLine(text: string): string {
  return safeBlock(text).replaceAll(/[^\S ]+/g, ' ')
}

/** JSON that says exactly what `value` says and that a terminal shows as it is. */
export function safeJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  return text.replaceAll(UNSAFE_IN_JSON, (found) => (found === '\n' ? found : escaped(found)))
}

function escaped(char: string): string {
  return Array.from(
    { length: char.length },
    (_, at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('')
}
