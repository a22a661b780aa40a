/** A range of a text that belongs together; the ranges of a text follow each other without gaps. */
export interface Block {
  start: number
  end: number
  heading: string | null
  /** A heading alone, which says nothing without what follows. */
  isHeading: boolean
}

const MAX_HEADING = 300
const ATX = /^ {0,3}(#{1,6})(?=[ \t]|$)/
const FENCE = /^ {0,3}(`{3,}|~{3,})/

interface Line {
  start: number
  end: number
  /** Without its line end. */
  text: string
}

/** Headings, paragraphs and fenced blocks of Markdown; plain text is Markdown without headings. */
export function proseBlocks(text: string): Block[] {
  const lines = linesOf(text)
  const path: Heading[] = []
  const blocks: Block[] = []
  let fence: string | undefined
  let wasBlank = false
  for (const [index, line] of lines.entries()) {
    const found = fence === undefined ? headingAt(lines, index) : undefined
    if (found) enter(path, found)
    const last = blocks.at(-1)
    const isBlank = line.text.trim() === ''
    const isParagraph = fence === undefined && !isBlank && (wasBlank || last?.isHeading === true)
    if (!last || found || (isParagraph && !isUnderline(lines, index))) {
      const { start, end } = line
      blocks.push({ start, end, heading: written(path), isHeading: found !== undefined })
    } else last.end = line.end
    fence = fenceAfter(fence, line.text)
    wasBlank = isBlank
  }
  return blocks
}

interface Heading {
  level: number
  title: string
}

function enter(path: Heading[], heading: Heading): void {
  while ((path.at(-1)?.level ?? 0) >= heading.level) path.pop()
  path.push(heading)
}

function written(path: readonly Heading[]): string | null {
  const titles = path.map(({ title }) => title).filter(Boolean)
  return titles.length === 0 ? null : titles.join(' > ').slice(0, MAX_HEADING).toWellFormed()
}

/** Declarations with their bodies: a block begins where a line without indentation follows a blank one. */
export function codeBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let wasBlank = false
  for (const { start, end, text: line } of linesOf(text)) {
    const last = blocks.at(-1)
    if (!last || (wasBlank && /^\S/.test(line) && !/^[)}\]]/.test(line))) {
      blocks.push({ start, end, heading: null, isHeading: false })
    } else last.end = end
    wasBlank = line.trim() === ''
  }
  return blocks
}

function linesOf(text: string): Line[] {
  const lines: Line[] = []
  for (let start = 0; start < text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline === -1 ? text.length : newline + 1
    lines.push({ start, end, text: text.slice(start, end).replace(/\r?\n$/, '') })
    start = end
  }
  return lines
}

function headingAt(lines: readonly Line[], index: number): Heading | undefined {
  const text = textAt(lines, index)
  const marks = ATX.exec(text)?.[1]
  if (marks !== undefined) return { level: marks.length, title: atxTitle(text, marks) }
  const isLone = textAt(lines, index - 1).trim() === '' && /^ {0,3}[^\s>|*+-]/.test(text)
  const below = textAt(lines, index + 1)
  if (!isLone || !/^ {0,3}(?:={2,}|-{2,})[ \t]*$/.test(below)) return undefined
  return { level: below.includes('=') ? 1 : 2, title: text.trim() }
}

/** Without the marks before and, if there are any, behind. */
function atxTitle(line: string, marks: string): string {
  const title = line.trim().slice(marks.length).trim()
  return title.replace(/(?:^|[ \t])#+$/, '').trim()
}

function textAt(lines: readonly Line[], index: number): string {
  return lines[index]?.text ?? ''
}

/** The second line of a heading that is underlined. */
function isUnderline(lines: readonly Line[], index: number): boolean {
  if (index === 0 || ATX.test(textAt(lines, index - 1))) return false
  return /^ {0,3}[=-]/.test(textAt(lines, index)) && headingAt(lines, index - 1) !== undefined
}

/** The fence that is open after a line. */
function fenceAfter(open: string | undefined, line: string): string | undefined {
  const mark = FENCE.exec(line)?.[1]
  if (mark === undefined) return open
  if (open === undefined) return mark
  const closes = mark[0] === open[0] && mark.length >= open.length && line.trim() === mark
  return closes ? undefined : open
}
