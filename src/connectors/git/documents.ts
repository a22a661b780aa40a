import { isUtf8 } from 'node:buffer'
import { oneLine } from '../text.ts'
import type { TreeEntry } from './records.ts'

const MAX_DOCUMENT_BYTES = 1024 * 1024
const MAX_TITLE = 300
/** Files that others wrote and that only travel with the repository. */
const FOREIGN = /(?:^|\/)(?:node_modules|vendor|third_party|\.git)\//
const README = /(?:^|\/)readme(?:[._-][^/]*)?(?:\.(?:md|markdown|rst|txt|adoc|asciidoc))?$/i
const DOCUMENT = /\.(?:md|markdown|mdx|rst|txt|adoc|asciidoc)$/i
const DOCUMENT_FOLDER = /^(?:[^/]+\/)*docs?\//i

export interface DocumentSelection {
  readonly documents: readonly TreeEntry[]
  readonly warnings: readonly string[]
}

/**
 * The paths that are documents: every README, prose at the root and under `docs` or `doc`. Links,
 * submodules, vendored folders and files over 1 MiB are not; the last are named in a warning.
 */
export function selectDocuments(tree: readonly TreeEntry[]): DocumentSelection {
  const chosen = tree.filter(isDocument)
  const tooLarge = chosen.filter(({ size = 0 }) => size > MAX_DOCUMENT_BYTES)
  return {
    documents: chosen.filter(({ size = 0 }) => size > 0 && size <= MAX_DOCUMENT_BYTES),
    warnings: tooLarge.map(({ path }) => `Document ${path} is larger than 1 MiB and is left out`),
  }
}

function isDocument({ path, type }: TreeEntry): boolean {
  if (type !== 'file' && type !== 'executable') return false
  if (FOREIGN.test(path)) return false
  if (README.test(path)) return true
  return DOCUMENT.test(path) && (!path.includes('/') || DOCUMENT_FOLDER.test(path))
}

/**
 * The text of a document's bytes: UTF-8, or UTF-16 with a byte order mark; anything else is read as
 * windows-1251 when it looks like text. Undefined for binary content. Line ends become `\n`.
 */
export function documentText(bytes: Buffer): string | undefined {
  const text = decoded(bytes)
  if (text === undefined || text.includes('\0')) return undefined
  const clean = text.replaceAll(/\r\n?/g, '\n').toWellFormed()
  return clean.trim() === '' ? undefined : clean
}

function decoded(bytes: Buffer): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes)
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return new TextDecoder('utf-16be').decode(bytes)
  if (isUtf8(bytes)) return new TextDecoder('utf-8').decode(bytes)
  if (bytes.some((byte) => byte < 0x09 || (byte > 0x0d && byte < 0x20))) return undefined
  return new TextDecoder('windows-1251').decode(bytes)
}

/** The first heading (Markdown, AsciiDoc, or a line underlined as in reStructuredText), else the path. */
export function documentTitle(path: string, text: string): string {
  const lines = withoutFrontMatter(text).split('\n', 200)
  let fenced = false
  for (const [index, line] of lines.entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced
    if (fenced) continue
    const heading = /^(?:#{1,6}|={1,6})\s+(.+?)\s*#*$/.exec(line)?.[1] ?? underlined(lines, index)
    const title = oneLine(heading ?? '', MAX_TITLE)
    if (title !== '') return title
  }
  return oneLine(path, MAX_TITLE)
}

function underlined(lines: readonly string[], index: number): string | undefined {
  const [line = '', below = ''] = lines.slice(index, index + 2)
  if (line.trim() === '' || !/^(?:={3,}|-{3,}|~{3,}|\*{3,})\s*$/.test(below)) return undefined
  return /^[=\-~*]+\s*$/.test(line) ? undefined : line
}

function withoutFrontMatter(text: string): string {
  return text.replace(/^---\n[\s\S]{0,20000}?\n---\n/, '')
}
