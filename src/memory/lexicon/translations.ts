import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'

const FILE = join(import.meta.dirname, 'ru-en.txt.gz')

/** Holds no state a caller can see: the file never changes while we run, and most processes never need it. */
let lines: string | undefined

/**
 * Stems of the other language, Russian or English, that mean about the same, likeliest first; none for a
 * stem that the lexicon does not know. The first call reads the lexicon, about 20 ms; then about 1 µs.
 */
export function translationsOf(stem: string): readonly string[] {
  if (!/^(?:[а-я]+|[a-z]+)$/.test(stem)) return []
  lines ??= gunzipSync(readFileSync(FILE)).toString('utf8')
  const line = lineOf(lines, stem)
  return line === undefined ? [] : line.split(' ').slice(1)
}

/** Binary search among lines in the order of their first words; each ends with a line feed. */
function lineOf(text: string, word: string): string | undefined {
  let from = 0
  let to = text.length
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    const start = text.lastIndexOf('\n', middle - 1) + 1
    const end = text.indexOf('\n', middle)
    const line = text.slice(start, end)
    const first = line.slice(0, line.indexOf(' '))
    if (first === word) return line
    if (first < word) from = end + 1
    else to = start
  }
  return undefined
}
