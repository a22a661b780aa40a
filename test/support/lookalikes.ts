import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

/** The name of the fence as the skeleton of UTS #39 spells it: there `m` reads as `rn`. */
export const NAME_SKELETON = 'recalled_rnernory'

/** Letter shapes that UTS #39 does not list, yet that people read as the letter. */
const ALSO_READ: Readonly<Record<string, string>> = {
  ᴀ: 'a',
  ᴅ: 'd',
  ᴇ: 'e',
  ʟ: 'l',
  ᴍ: 'rn',
  ɴ: 'n',
  ʀ: 'r',
  '〈': '<',
  '⟨': '<',
  '❬': '<',
  '⧼': '<',
  '\u2329': '<',
  '〉': '>',
  '⟩': '>',
  '❭': '>',
  '⧽': '>',
  '\u232a': '>',
  '\\': '/',
}
/** First code points of alphabets A to Z in negative circles, negative squares, regional indicators. */
const LETTER_BLOCKS = [0x1f150, 0x1f170, 0x1f1e6]
/** Beyond the first two planes there are only ideographs, tags and selectors. */
const LAST_PLANE_END = 0x20000
const IGNORED = /[\p{DI}\p{Cf}\p{Mn}\p{Me}\p{Cc}]/gu
const SIGNS = ['<', '>', '/']

type Prototypes = Readonly<Record<string, string>>

/** The data of UTS #39 (confusables.txt), character to prototype. */
export function loadPrototypes(): Prototypes {
  const path = createRequire(import.meta.url).resolve('unhomoglyph/data.json')
  return JSON.parse(readFileSync(path, 'utf8'))
}

/**
 * Every reading of one character that matters here: a part of the name's skeleton, or `<`, `>`, `/`.
 * Written without the table in `src/lib`, to check it.
 */
export function readings(char: string, prototypes: Prototypes): string[] {
  const proto = (text: string) => text.replace(/./gsu, (part) => prototypes[part] ?? part)
  const found = [
    proto(plain(proto(plain(char)).toLowerCase())).toLowerCase(),
    plain(proto(plain(proto(char)).toLowerCase())),
    asSmallCapital(char, proto),
    ALSO_READ[char] ?? ALSO_READ[plain(char)] ?? '',
    blockLetter(char.codePointAt(0) ?? 0, proto),
  ].map((reading) => plain(proto(reading)))
  return [...new Set(found)].filter(
    (reading) => reading !== '' && (NAME_SKELETON.includes(reading) || SIGNS.includes(reading)),
  )
}

/** Small letters that are small capitals, as in Cyrillic, read like them; an `i` is no `l` for that. */
function asSmallCapital(char: string, proto: (text: string) => string): string {
  const capital = char.toUpperCase()
  const reading = /^.$/su.test(capital) ? plain(proto(plain(capital)).toLowerCase()) : ''
  return reading === 'l' ? '' : reading
}

function plain(text: string): string {
  return text.normalize('NFKD').replace(IGNORED, '')
}

function blockLetter(code: number, proto: (text: string) => string): string {
  const block = LETTER_BLOCKS.find((first) => code >= first && code < first + 26)
  return block === undefined ? '' : proto(String.fromCharCode(97 + code - block))
}

/**
 * The compact table: only non-ASCII characters, without those whose compatibility decomposition is
 * already covered. The three signs are listed in full, since they are searched for directly.
 */
export function compactTable(): Record<string, string[]> {
  const prototypes = loadPrototypes()
  const table: Record<string, string[]> = {}
  for (let code = 0x80; code < LAST_PLANE_END; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue
    const char = String.fromCodePoint(code)
    if (isPlain(char, prototypes) || plain(char) === '') continue
    for (const reading of readings(char, prototypes)) {
      if (!SIGNS.includes(reading) && followsFromBase(char, reading, prototypes)) continue
      table[reading] = [...(table[reading] ?? []), char]
    }
  }
  return table
}

/** True when nothing maps the character to another one, as for nearly all of Unicode. */
function isPlain(char: string, prototypes: Prototypes): boolean {
  return (
    prototypes[char] === undefined &&
    ALSO_READ[char] === undefined &&
    char.toUpperCase() === char &&
    char.toLowerCase() === char &&
    char.normalize('NFKD') === char &&
    blockLetter(char.codePointAt(0) ?? 0, (text) => text) === ''
  )
}

function followsFromBase(char: string, reading: string, prototypes: Prototypes): boolean {
  const base = plain(char)
  if (base === char) return false
  const readable = Array.from(base).map((part) => readings(part, prototypes))
  return readable.every((all) => all.length === 1) && readable.flat().join('') === reading
}

/** Every character, ASCII included, by what it reads as. */
export function allReadings(): Map<string, string[]> {
  const prototypes = loadPrototypes()
  const byReading = new Map<string, string[]>()
  for (let code = 0x21; code < LAST_PLANE_END; code += 1) {
    if (code >= 0xd800 && code < 0xe000) continue
    const char = String.fromCodePoint(code)
    if (code > 0x7f && isPlain(char, prototypes)) continue
    for (const reading of readings(char, prototypes)) {
      byReading.set(reading, [...(byReading.get(reading) ?? []), char])
    }
  }
  return byReading
}

/** The source text of `src/lib/lookalikes.ts`. */
export function renderLookalikes(table: Record<string, string[]>): string {
  const rows = Object.keys(table)
    .toSorted()
    .map((reading) => `  ${rowKey(reading)}: '${(table[reading] ?? []).map(escapeChar).join('')}',`)
  return `// Generated by docs/generate-lookalikes.ts; a test compares it with the published data.

/**
 * Characters that read as a part of the fence's name, or as one of the signs around it. Keys are
 * skeletons in the sense of UTS #39 (so \`m\` is \`rn\`), values the characters one after the other.
 * ASCII, and what becomes a listed character by compatibility decomposition, is left out; the signs
 * are complete.
 */
export const LOOKALIKES: Readonly<Record<string, string>> = {
${rows.join('\n')}
}
`
}

function rowKey(reading: string): string {
  return /^[a-z_]+$/.test(reading) ? reading : `'${reading}'`
}

function escapeChar(char: string): string {
  const code = char.codePointAt(0) ?? 0
  const hex = code.toString(16)
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}
