import { codeBlocks, proseBlocks } from './blocks.ts'
import type { Block } from './blocks.ts'

export interface TextChunk {
  /** The headings it stands under, outermost first, joined by ` > `. */
  heading: string | null
  text: string
}

/** Sizes in characters, where one of Chinese, Japanese or Korean counts as three. */
export const TARGET_SIZE = 1200
export const MAX_SIZE = 2000
const CJK = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu
const CJK_WEIGHT = 3

/**
 * Cuts a text into chunks of about {@link TARGET_SIZE}, never beyond {@link MAX_SIZE}: Markdown by
 * headings, paragraphs, sentences and words in this order, code by its blocks and lines. The chunks
 * joined in order are the text, character for character. A text without a visible character gives none.
 */
export function chunkText(text: string, type: string): TextChunk[] {
  if (text.trim() === '') return []
  const blocks = type === 'code' ? codeBlocks(text) : proseBlocks(text)
  const levels = type === 'code' ? CODE_LEVELS : PROSE_LEVELS
  const pieces = blocks.flatMap((block) => split(text, block, levels))
  return packed(text, pieces).map(({ start, end, heading }) => ({
    heading,
    text: text.slice(start, end),
  }))
}

/** Size of a text as chunks are measured. */
export function sizeOf(text: string): number {
  const cjk = text.match(CJK)?.length ?? 0
  return text.length + cjk * (CJK_WEIGHT - 1)
}

/** Where a text may be cut: positions behind each match. */
const PROSE_LEVELS = [
  /\n(?:[ \t]*\n)+/gu,
  /(?<![.!?…])[.!?…]+["'»”’)\]]*\s+|[。！？]["'」』）]*|\n+/gu,
  /\s+/gu,
] as const
const CODE_LEVELS = [/\n(?:[ \t]*\n)+/gu, /\n+/gu, /\s+/gu] as const

interface Piece extends Block {
  size: number
}

function split(text: string, block: Block, levels: readonly RegExp[]): Piece[] {
  const size = sizeOf(text.slice(block.start, block.end))
  if (size <= MAX_SIZE) return [{ ...block, size }]
  const [level, ...finer] = levels
  if (!level) return hardSplit(text, block)
  const body = text.slice(block.start, block.end)
  const cuts = [...body.matchAll(level)].map((match) => block.start + match.index + match[0].length)
  const bounds = [block.start, ...cuts.filter((cut) => cut < block.end), block.end]
  const parts = bounds.slice(1).flatMap((end, index) => {
    const start = bounds[index] ?? block.start
    return split(text, { ...block, start, end, isHeading: false }, finer)
  })
  return joined(parts)
}

/** Neighbours of one block together as long as they stay within the target. */
function joined(parts: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  for (const part of parts) {
    const last = out.at(-1)
    if (last && last.size + part.size <= TARGET_SIZE) {
      last.end = part.end
      last.size += part.size
    } else out.push({ ...part })
  }
  return out
}

/** Text without a single blank: cut between characters, never inside one. */
function hardSplit(text: string, block: Block): Piece[] {
  const pieces: Piece[] = []
  const step = Math.floor(TARGET_SIZE / CJK_WEIGHT)
  for (let start = block.start; start < block.end;) {
    const end = boundary(text, Math.min(start + step, block.end), block.end)
    pieces.push({ ...block, start, end, size: sizeOf(text.slice(start, end)) })
    start = end
  }
  return joined(pieces)
}

/** The next place, a few characters on at most, that parts neither a surrogate pair nor an accent. */
function boundary(text: string, at: number, limit: number): number {
  const farthest = Math.min(at + 32, limit)
  let place = at
  while (place < farthest && INSIDE.test(text.charAt(place))) place += 1
  if (isLowSurrogate(text, place) && place < limit) place += 1
  return place
}

const INSIDE = /\p{M}|\u200d/u

function isLowSurrogate(text: string, place: number): boolean {
  const code = text.charCodeAt(place)
  return code >= 0xdc00 && code <= 0xdfff
}

/**
 * Puts pieces together up to the target: of one section only, but a heading goes with what follows it,
 * and what shows nothing goes with what stands before it.
 */
function packed(text: string, pieces: readonly Piece[]): Piece[] {
  const out: Piece[] = []
  for (const piece of pieces) {
    const last = out.at(-1)
    if (last && belongs(text, last, piece)) {
      if (last.isHeading) last.heading = piece.heading
      last.isHeading = last.isHeading && piece.isHeading
      last.end = piece.end
      last.size += piece.size
    } else out.push({ ...piece })
  }
  return out
}

function belongs(text: string, last: Piece, piece: Piece): boolean {
  const together = last.size + piece.size
  const isBlank = (part: Piece) => text.slice(part.start, part.end).trim() === ''
  if (last.isHeading || isBlank(last) || isBlank(piece)) return together <= MAX_SIZE
  return last.heading === piece.heading && together <= TARGET_SIZE
}
