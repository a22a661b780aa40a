import type { DocumentBody } from '#contract/memory.ts'
import { AppError } from '#lib/errors.ts'
import { chunkText } from './chunk-text.ts'
import type { NewChunk } from './plan-chunks.ts'

/** The title given, else the first heading of the text, else the key. */
export function titleOf({ title, content, type, natural_key: key }: DocumentBody): string {
  if (title?.trim()) return title
  const heading = type === 'code' ? undefined : /^#[ \t]+(\S.{0,299})$/m.exec(content ?? '')?.[1]
  return heading?.replace(/[ \t]+#+$/, '').trim() || key
}

/** The chunks of a document: cut by us from its content, or as given, each at its place. */
export function chunksOf(document: DocumentBody, title: string): NewChunk[] {
  const { content, type, meta, scopes, source_path: sourcePath } = document
  const common = { docType: type, sourcePath: sourcePath ?? null, scopes }
  if (content !== undefined) {
    return chunkText(content, type).map(({ heading, text }, chunkOrder) => ({
      ...common,
      chunkOrder,
      title,
      heading,
      text,
      meta: meta ?? {},
    }))
  }
  const given = document.chunks ?? []
  requireDistinct(given.map(({ order }, index) => order ?? index))
  return given.map((chunk, index) => ({
    ...common,
    chunkOrder: chunk.order ?? index,
    title: chunk.title?.trim() ? chunk.title : title,
    heading: chunk.heading?.trim() ? chunk.heading : null,
    text: chunk.text,
    meta: { ...meta, ...chunk.meta },
  }))
}

function requireDistinct(orders: readonly number[]): void {
  const twice = orders.findIndex((order, index) => orders.indexOf(order) !== index)
  if (twice === -1) return
  throw new AppError('invalid_request', 'Cannot store the document: two chunks have one place', {
    details: { errors: [{ loc: `body.chunks.${twice}.order`, message: 'is used before' }] },
  })
}
