import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const ROOT = join(import.meta.dirname, '../..')

export interface CodeBlock {
  language: string
  text: string
  /** The comment right above, such as `run`; empty without one. */
  mark: string
}

export function readPage(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

export function codeBlocks(text: string): CodeBlock[] {
  return [...text.matchAll(/(?:<!-- (.+?) -->\n\n)?^```(\w*)\n([^]*?)^```$/gm)].map(
    ([, mark = '', language = '', code = '']) => ({ mark, language, text: code }),
  )
}

export function withoutCode(text: string): string {
  return text.replaceAll(/^```\w*\n[^]*?^```$/gm, '')
}
