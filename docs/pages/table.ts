export type Language = 'en' | 'ru'

/** A Markdown table with aligned columns, as the formatter writes it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) =>
    row.map((cell) => cell.replaceAll('|', String.raw`\|`)),
  )
  const widths = head.map((_, column) => {
    return Math.max(3, ...lines.map((line) => (line[column] ?? '').length))
  })
  const written = lines.map((line) => {
    return `| ${widths.map((width, column) => padded(line[column] ?? '', width)).join(' | ')} |`
  })
  const [first = '', ...rest] = written
  return [first, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rest].join('\n')
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(width - text.length)
}

export function code(text: string): string {
  return `\`${text}\``
}
