import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ContextPack, PackItem } from '#contract/memory-context.ts'
import type { Database } from '#db/sql.ts'
import { testMemory } from './memory.ts'

export interface Said {
  content: string
  kind?: string
  scopes?: string[]
  /** When it was said; one moment for all unless it matters. */
  at?: string
  [field: string]: unknown
}

/** A namespace of its own with short ways to tell it something and to ask it. */
export function recalling(db: Database) {
  const { namespace, post, get } = testMemory(db)
  const scope = { namespace }
  return {
    namespace,
    get,
    post,
    /** Records what was said and answers the ids. */
    tell: async (...said: Said[]): Promise<string[]> => {
      const observations = said.map(({ content, kind = 'note', at, ...rest }) => ({
        source: { system: 'test', stream: 's', external_id: randomUUID() },
        kind,
        content,
        occurred_at: at ?? '2026-01-10T10:00:00Z',
        ...rest,
      }))
      const { body } = await post('/api/memory/observations:batch', { observations, scope })
      assert.equal(body.failed, 0, JSON.stringify(body.results))
      return body.results.map(({ observation_id: id }: { observation_id: string }) => id)
    },
    ask: async (query: string, more: object = {}): Promise<ContextPack> => {
      const { status, body } = await post('/api/memory/context', { query, scope, ...more })
      assert.equal(status, 200, JSON.stringify(body))
      return body
    },
    search: async (query: string, more: object = {}) => {
      const { status, body } = await post('/api/brain/search', { query, scope, ...more })
      assert.equal(status, 200, JSON.stringify(body))
      return body.hits
    },
  }
}

export const itemsOf = (pack: ContextPack): PackItem[] =>
  pack.sections.flatMap((section) => section.items)

export const textsOf = (pack: ContextPack): string[] => itemsOf(pack).map(({ text }) => text)

export const sectionOf = (pack: ContextPack, kind: string): PackItem[] =>
  pack.sections.find((one) => one.kind === kind)?.items ?? []

/** Id of each candidate that was left out -> why. */
export const reasonsOf = (pack: ContextPack): Record<string, string> =>
  Object.fromEntries(pack.budget.dropped.map(({ id, reason }) => [id, reason]))

export const entity = (key: string, title: string, more: object = {}) => ({
  assert: 'entity',
  entity: { key, title, ...more },
})

export const fact = (subject: string, predicate: string, object: string, more: object = {}) => ({
  assert: 'fact',
  fact: { subject, predicate, object, ...more },
})
