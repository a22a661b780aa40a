/** Nothing but tab, newline and printable ASCII: most text, and nothing here would change it. */
const PLAIN = /^[\t\n\x20-\x7e]*$/
/** Characters that nothing here changes, also side by side: visible, composed, no marks. */
const SETTLED =
  /^[\t\n\x20-\x7e\u00ab\u00bb\u00c0-\u00ff\u0400-\u0482\u048a-\u052f\u2012-\u2016\u2018-\u201f\u2022\u2190-\u21ff\u4e00-\u9fff\uac00-\ud7a3]*$/
/** Control characters that separate words or lines. */
const LINE_BREAKS = /\r\n|[\r\x85\u2028\u2029]/g
const SPACES = /[\v\f]/g
/** Default-ignorable and bidirectional characters, and the marks of interlinear annotation. */
const INVISIBLE = /[\p{DI}\p{Bidi_C}\ufff9-\ufffb]+/gu
/** Control characters but tab and newline. */
const CONTROLS = /[^\P{Cc}\t\n]+/gu
/** Marks, and characters that become one by compatibility decomposition. */
const MARK = /[\p{M}\u0e33\u0eb3\uff9e\uff9f]/u
/** As many non-starters as the Stream-Safe Text Format of UAX #15 allows in a row. */
const MAX_MARKS = 30

/**
 * Drops what a reader cannot see: default-ignorable characters (zero-width, fillers, tags, variation
 * selectors), bidirectional and other control characters. Line breaks of all kinds become a newline,
 * tabs stay, lone surrogates become U+FFFD. Words are kept. Linear.
 */
export function dropInvisible(text: string): string {
  if (SETTLED.test(text)) return text
  return text
    .toWellFormed()
    .replace(LINE_BREAKS, '\n')
    .replace(SPACES, ' ')
    .replace(INVISIBLE, '')
    .replace(CONTROLS, '')
}

/**
 * Compatibility composition (NFKC) in linear time: longer piles than 30 marks on one letter are cut
 * first, since reordering them costs the square of their number.
 */
export function composeCompatible(text: string): string {
  if (PLAIN.test(text) || SETTLED.test(text)) return text
  return cutMarkPiles(text).normalize('NFKC')
}

function cutMarkPiles(text: string): string {
  const parts: string[] = []
  let from = 0
  let marks = 0
  let at = 0
  while (at < text.length) {
    const length = markLengthAt(text, at)
    if (length === 0) {
      if (marks > MAX_MARKS) from = at
      marks = 0
    } else {
      marks += 1
      if (marks === MAX_MARKS + 1) parts.push(text.slice(from, at))
    }
    at += Math.max(length, 1)
  }
  if (parts.length === 0) return text
  return parts.join('') + (marks > MAX_MARKS ? '' : text.slice(from))
}

/** Units of the mark at a place, 0 when it is none. */
function markLengthAt(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  if (unit < 0x300 || (unit > 0x48f && unit < 0x591) || (unit >= 0x370 && unit < 0x483)) return 0
  if (unit >= 0x1e00 && unit < 0x20d0) return 0
  if (unit >= 0x3100 && unit < 0xa66f) return 0
  const char = String.fromCodePoint(text.codePointAt(at) ?? 0)
  return MARK.test(char) ? char.length : 0
}
