import { allReadings } from './lookalikes.ts'

const IGNORED = /[\p{DI}\p{Cf}\p{Mn}\p{Me}]|[^\P{Cc}\s]/gu
const FRAME = /^(?:- |### |… |\[fence |\[end |$)/

/**
 * Finds a tag of the fence in any spelling, independently of the code that removes them: one regular
 * expression over the published look-alikes instead of an automaton.
 */
export function fenceFinder(): (text: string) => string | undefined {
  const pattern = fencePattern()
  return (text) => pattern.exec(text.replace(IGNORED, ''))?.[0]
}

function fencePattern(): RegExp {
  const byReading = allReadings()
  const any = (reading: string) =>
    `[${(byReading.get(reading) ?? []).map((char) => `\\u{${char.codePointAt(0)?.toString(16)}}`).join('')}]`
  const m = `(?:${any('rn')}|${any('r')}${any('n')})`
  const ll = `(?:${any('l')}${any('l')}|${any('ll')})`
  const before = `${any('r')}${any('e')}${any('c')}${any('a')}${ll}${any('e')}${any('d')}${any('_')}`
  const name = `${before}${m}${any('e')}${m}${any('o')}${any('r')}${any('y')}(?:${any('>')}|(?![\\p{L}\\p{N}_]))`
  const open = `(?:${any('<')}|&(?:[lL][tT]|#0*60|#[xX]0*3[cC]);?)`
  const slash = `(?:${any('/')}|&(?:[sS][oO][lL]|#0*47|#[xX]0*2[fF]);?)`
  return new RegExp(`${open}\\s*(?:${slash}\\s*)*${name}`, 'u')
}

/**
 * What is wrong with a rendered section, or undefined when it keeps every promise: length, one pair
 * of tags, lines that only begin as the renderer begins them, no tag in any spelling inside.
 */
export function sectionFault(
  section: string,
  promised: { budgetChars: number; nonce: string },
  findFence: (text: string) => string | undefined,
): string | undefined {
  if (section.length > promised.budgetChars) return `longer than the budget: ${section.length}`
  const lines = section.split('\n')
  const open = lines.indexOf('<recalled_memory>')
  if (open < 0) return findFence(section) === undefined ? undefined : 'a tag without a fence'
  const frame = [lines[open + 1], lines.at(-2), lines.at(-1)]
  const wanted = [`[fence ${promised.nonce}]`, `[end ${promised.nonce}]`, '</recalled_memory>']
  if (frame.join('\n') !== wanted.join('\n')) return `a broken frame: ${JSON.stringify(frame)}`
  const inside = lines.slice(open + 1, -1)
  const stray = inside.find((line) => !FRAME.test(line))
  if (stray !== undefined) return `a line of its own: ${JSON.stringify(stray)}`
  const nonceLines = inside.filter((line) => /^\[(?:fence|end) /.test(line))
  if (nonceLines.length !== 2) return 'a forged line with a nonce'
  const outside = findFence(lines.slice(0, open).join('\n'))
  const found = outside ?? findFence(inside.join('\n'))
  return found === undefined ? undefined : `a tag inside the fence: ${JSON.stringify(found)}`
}
