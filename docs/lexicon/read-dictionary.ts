import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'

/** A dictionary of one direction: each headword with the single words it is translated by. */
export interface Dictionary {
  from: string
  to: string
  translations: Map<string, Set<string>>
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const HEADER = /^00-?database/

/**
 * Reads a WikDict dictionary in the format of dictd: `<path>.index` says where entries begin in
 * `<path>.dict.dz`. Phrases are left out on both sides. Source of the format: RFC 2229 and dictfmt(1).
 */
export async function readDictionary(path: string): Promise<Dictionary> {
  const [, from = '', to = ''] = /freedict-(\w{3})-(\w{3})$/.exec(path) ?? []
  const text = gunzipSync(await readFile(`${path}.dict.dz`))
  const index = await readFile(`${path}.index`, 'utf8')
  const translations = new Map<string, Set<string>>()
  for (const { start, end } of entriesOf(index)) {
    const [head = '', ...body] = text.toString('utf8', start, end).split('\n')
    const [name = ''] = head.split(/ [/<]/)
    const word = wordOf(name)
    if (word === undefined) continue
    const known = translations.get(word) ?? new Set()
    translations.set(word, known)
    for (const translation of translationsIn(body)) known.add(translation)
  }
  return { from, to, translations }
}

/** Where the entries are, but for those about the dictionary itself. */
function entriesOf(index: string): { start: number; end: number }[] {
  return index.split('\n').flatMap((line) => {
    const [name = '', offset = '', length = ''] = line.split('\t')
    if (name === '' || HEADER.test(name)) return []
    const start = numberOf(offset)
    return [{ start, end: start + numberOf(length) }]
  })
}

function numberOf(digits: string): number {
  return Array.from(digits).reduce((sum, digit) => 64 * sum + BASE64.indexOf(digit), 0)
}

/** The first line of an entry and those with a number hold translations, the others explain them. */
function translationsIn(body: readonly string[]): string[] {
  return body
    .filter((line, place) => place === 0 || /^\d+\. /.test(line))
    .flatMap((line) =>
      line
        .replace(/^\d+\. /, '')
        .replace(/\s*\d+\.$/, '')
        .split(/[,;]/),
    )
    .flatMap((part) => wordOf(part) ?? [])
}

/** The word of a text that is a single one, as it is compared: lower case, without marks of stress. */
function wordOf(text: string): string | undefined {
  const bare = text
    .replaceAll(/\([^)]*\)/g, '')
    .normalize('NFD')
    .replaceAll(/[\u0300\u0301]/g, '')
    .normalize('NFC')
    .trim()
    .replace(/^(?:to|the|an?) /, '')
    .toLowerCase()
  return /^\p{L}[\p{L}-]+\p{L}$/u.test(bare) ? bare : undefined
}
