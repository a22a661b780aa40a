import { LOOKALIKES } from './lookalikes.ts'

/** `recalled_memory` as its skeleton (UTS #39) spells it. */
const NAME = 'recalled_rnernory'
/** How many characters of attributes a tag may carry before its closing bracket. */
const MAX_ATTRIBUTE_CHARS = 200

const OPENS =
  /[<&\u02c2\u1438\u16b2\u2039\u226e\u2329\u276c\u276e\u27e8\u29fc\u3008\ufe3f\ufe64\uff1c\u{1d236}]/u
const UNDERSCORES = /[_\u07fa\ufe33\ufe34\ufe4d-\ufe4f\uff3f]/u
const IGNORABLE = /[\p{DI}\p{Cf}\p{Mn}\p{Me}]|[^\P{Cc}\s\x85]/u
const MARKS = /[\p{DI}\p{Cf}\p{Mn}\p{Me}]/gu
const WORD = /[\p{L}\p{N}_]/u
const SPACE = /[\s\x85\u2800]/

// States of the automaton after each character kept: what a tag would have spelled so far.
const IDLE = 0
const AMP = 1
const AMP_L = 2
const AMP_NUMBER = 3
const AMP_6 = 4
const AMP_HEX = 5
const AMP_HEX_3 = 6
const INNER_AMP = 7
const INNER_S = 8
const INNER_SO = 9
const INNER_NUMBER = 10
const INNER_4 = 11
const INNER_HEX = 12
const INNER_HEX_2 = 13
const OPEN_ENTITY = 14
const OPEN = 15
const SLASH_ENTITY = 16
const SLASH = 17
/** Plus how much of {@link NAME} is spelled. */
const SPELLED = 18
const COMPLETE = SPELLED + NAME.length

/** Spelling of `<` and `/` as character references; after an opening bracket either may follow. */
const REFERENCES: Readonly<Record<number, Readonly<Record<string, number>>>> = {
  [AMP]: { l: AMP_L, '#': AMP_NUMBER },
  [AMP_L]: { t: OPEN_ENTITY },
  [AMP_NUMBER]: { '0': AMP_NUMBER, '6': AMP_6, x: AMP_HEX },
  [AMP_6]: { '0': OPEN_ENTITY },
  [AMP_HEX]: { '0': AMP_HEX, '3': AMP_HEX_3 },
  [AMP_HEX_3]: { c: OPEN_ENTITY },
  [INNER_AMP]: { l: AMP_L, s: INNER_S, '#': INNER_NUMBER },
  [INNER_S]: { o: INNER_SO },
  [INNER_SO]: { l: SLASH_ENTITY },
  [INNER_NUMBER]: { '0': INNER_NUMBER, '6': AMP_6, '4': INNER_4, x: INNER_HEX },
  [INNER_4]: { '7': SLASH_ENTITY },
  [INNER_HEX]: { '0': INNER_HEX, '3': AMP_HEX_3, '2': INNER_HEX_2 },
  [INNER_HEX_2]: { f: SLASH_ENTITY },
}

/** What is kept so far, with the automaton's state and the start of its tag after each unit. */
interface Kept {
  units: Uint16Array
  states: Uint8Array
  starts: Int32Array
  length: number
}

/**
 * Removes every spelling of the tags `<recalled_memory>` and `</recalled_memory>`: other brackets and
 * slashes, character references, spaces, attributes, and any letters that read like the name (UTS #39
 * skeleton, invisible characters and accents ignored). A tag that is never closed loses only its
 * bracket, slash and name. Afterwards no tag is left, also none that a removal put together.
 *
 * One pass: the states of what is kept are kept too, so after a removal the automaton goes on as if
 * the tag had never been there. Linear in the length of the text.
 */
export function stripFence(text: string): string {
  if (!holdsTag(text)) return text
  const kept: Kept = {
    units: new Uint16Array(text.length),
    states: new Uint8Array(text.length),
    starts: new Int32Array(text.length),
    length: 0,
  }
  let at = 0
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0
    const state = stateOf(kept)
    if (state === COMPLETE && endsName(code)) {
      dropTag(kept)
      at = endOfTag(text, at)
      continue
    }
    keep(kept, code, state === IDLE && code < 0x80 ? idleAscii(code) : nextState(state, code))
    at += code > 0xffff ? 2 : 1
  }
  if (stateOf(kept) === COMPLETE) dropTag(kept)
  return kept.length === text.length ? text : textOf(kept)
}

/** Whether a tag stands in the text as it is; only then can a removal put together another one. */
function holdsTag(text: string): boolean {
  if (!OPENS.test(text) || !UNDERSCORES.test(text)) return false
  const opens = new RegExp(OPENS, 'gu')
  for (let match = opens.exec(text); match !== null; match = opens.exec(text)) {
    let at = match.index
    let state = IDLE
    do {
      const code = text.codePointAt(at) ?? 0
      if (state === COMPLETE && endsName(code)) return true
      state = nextState(state, code)
      at += code > 0xffff ? 2 : 1
    } while (state !== IDLE && at < text.length)
    if (state === COMPLETE) return true
    opens.lastIndex = at
  }
  return false
}

function stateOf(kept: Kept): number {
  return kept.states[kept.length - 1] ?? IDLE
}

function dropTag(kept: Kept): void {
  kept.length = kept.starts[kept.length - 1] ?? 0
}

function keep(kept: Kept, code: number, state: number): void {
  const at = kept.length
  let start = kept.starts[at - 1] ?? 0
  if (state === OPEN && isOpening(code)) start = at
  if (state === OPEN_ENTITY && code !== 0x3b && !isIgnorable(code))
    start = ampersandBefore(kept, at)
  const wide = code > 0xffff
  kept.units[at] = wide ? 0xd800 + ((code - 0x10000) >> 10) : code
  if (wide) kept.units[at + 1] = 0xdc00 + ((code - 0x10000) & 0x3ff)
  const end = wide ? at + 2 : at + 1
  for (let index = at; index < end; index += 1) {
    kept.states[index] = state
    kept.starts[index] = start
  }
  kept.length = end
}

function ampersandBefore(kept: Kept, at: number): number {
  let start = at - 1
  while (start > 0 && kept.units[start] !== 0x26) start -= 1
  return start
}

function textOf(kept: Kept): string {
  return Buffer.from(kept.units.buffer, 0, kept.length * 2).toString('utf16le')
}

function idleAscii(code: number): number {
  if (code === 0x3c) return OPEN
  return code === 0x26 ? AMP : IDLE
}

function nextState(state: number, code: number): number {
  if (isOpening(code)) return OPEN
  if (state === IDLE) return code === 0x26 ? AMP : IDLE
  if (isIgnorable(code)) return state
  const char = String.fromCodePoint(code)
  if (state < OPEN_ENTITY) return afterReference(state, char)
  if (state < SPELLED) return afterBracket(state, char)
  const spelled = spell(state - SPELLED, char)
  if (spelled > 0) return SPELLED + spelled
  return char === '&' ? AMP : IDLE
}

function afterReference(state: number, char: string): number {
  const next = REFERENCES[state]?.[char.toLowerCase()]
  return next ?? (char === '&' ? AMP : IDLE)
}

function afterBracket(state: number, char: string): number {
  const settled = state >= SLASH_ENTITY ? SLASH : OPEN
  if (char === ';' && state !== settled) return settled
  if (SPACE.test(char)) return settled
  if (isSlash(char)) return SLASH
  if (char === '&') return INNER_AMP
  const spelled = spell(0, char)
  return spelled > 0 ? SPELLED + spelled : IDLE
}

function isSlash(char: string): boolean {
  if (char < '\x80') return char === '/' || char === '\\'
  return LOOKALIKES['/']?.includes(char) ?? false
}

function endsName(code: number): boolean {
  if (isIgnorable(code)) return false
  return isOpening(code) || isClosing(code) || !WORD.test(String.fromCodePoint(code))
}

function isOpening(code: number): boolean {
  if (code < 0x80) return code === 0x3c
  if (code < 0x1438) return code === 0x2c2
  if (code > 0x3008 && code < 0xfe3f) return false
  return LOOKALIKES['<']?.includes(String.fromCodePoint(code)) ?? false
}

function isClosing(code: number): boolean {
  if (code < 0x80) return code === 0x3e
  return LOOKALIKES['>']?.includes(String.fromCodePoint(code)) ?? false
}

function isIgnorable(code: number): boolean {
  if (code >= 0x20 && code < 0x7f) return false
  return IGNORABLE.test(String.fromCodePoint(code))
}

/** How much of the name is spelled when `char` follows its first `from` letters; 0 if it does not fit. */
function spell(from: number, char: string): number {
  const direct = spellOne(from, char)
  if (direct > 0 || char < '\x80') return direct
  const base = char.normalize('NFKD').replace(MARKS, '')
  if (base === char || base === '') return 0
  let at = from
  for (const part of base) {
    at = spellOne(at, part)
    if (at === 0) return 0
  }
  return at
}

function spellOne(from: number, char: string): number {
  if (char < '\x80') return spellAscii(from, char)
  for (const reading of Object.keys(LOOKALIKES)) {
    if (LOOKALIKES[reading]?.includes(char) && NAME.startsWith(reading, from)) {
      return from + reading.length
    }
  }
  return 0
}

function spellAscii(from: number, char: string): number {
  if (char === 'm' || char === 'M') return NAME.startsWith('rn', from) ? from + 2 : 0
  const isL = char === '1' || char === '|' || char === 'I'
  const letter = isL ? 'l' : char === '0' ? 'o' : char.toLowerCase()
  return NAME[from] === letter ? from + 1 : 0
}

/** Where the tag ends: behind its closing bracket if one follows on the line, else at `from`. */
function endOfTag(text: string, from: number): number {
  let at = from
  while (at < text.length && at - from <= MAX_ATTRIBUTE_CHARS) {
    const bracket = bracketAt(text, at)
    if (bracket === 'none') at += 1
    else return bracket === 'opens' ? from : at + bracket.length
  }
  return from
}

/** What stands at a place among attributes; a line break ends the search like an opening bracket. */
function bracketAt(text: string, at: number): 'none' | 'opens' | { length: number } {
  const code = text.codePointAt(at) ?? 0
  if (code === 0x0a || code === 0x0d || isOpening(code)) return 'opens'
  if (isClosing(code)) return { length: code > 0xffff ? 2 : 1 }
  if (code !== 0x26) return 'none'
  const pattern = /&(?:(lt|#0*60|#x0*3c)|gt|#0*62|#x0*3e);?/iy
  pattern.lastIndex = at
  const match = pattern.exec(text)
  if (match === null) return 'none'
  return match[1] === undefined ? { length: match[0].length } : 'opens'
}
