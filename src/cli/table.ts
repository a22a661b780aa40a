import stringWidth from 'string-width'
import { safeLine } from './safe-text.ts'

const GAP = '  '

/**
 * Aligned lines, the first one the headings. Cells are made safe and one line each. The last column is
 * cut to `maxWidth` when that is given.
 */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  maxWidth?: number,
): string[] {
  const cells = [headings, ...rows].map((row) => row.map((cell) => safeLine(cell).trim()))
  const widths = headings.map((_, column) =>
    cells.reduce((widest, row) => Math.max(widest, stringWidth(row[column] ?? '')), 0),
  )
  return cells.map((row) => {
    const line = row
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join(GAP)
      .trimEnd()
    return maxWidth === undefined ? line : cutToWidth(line, maxWidth)
  })
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - stringWidth(cell)))
}

/** At most `width` columns of a terminal, an ellipsis in place of what is cut. */
export function cutToWidth(line: string, width: number): string {
  if (stringWidth(line) <= width) return line
  let kept = ''
  let used = 0
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    used += stringWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}
