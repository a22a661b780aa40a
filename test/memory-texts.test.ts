import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { memoryRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { sharedMemoryDb } from './support/db.ts'
import { anyBody, anyText } from './support/any-body.ts'
import { decision, testMemory } from './support/memory.ts'
import { pathOf } from './support/refusals.ts'

const memory = testMemory(await sharedMemoryDb())
const { namespace, post } = memory
const scope = { namespace }

await post('/api/memory/observations', { ...decision(), scope })

/** What each route that reads is asked with a text in it; every one of them answers. */
const READS: Readonly<Record<string, (text: string) => object>> = {
  '/api/memory/context': (query) => ({ query, anchors: [query.slice(0, 300)] }),
  '/api/memory/context/typed': (value) => ({
    anchors: [{ value: value.slice(0, 2000) }],
    allow_semantic: true,
    traverse: [{ relation: 'USES', where: [{ field: 'f', op: 'eq', value }] }],
  }),
  '/api/brain/query': (query) => ({ query, filters: { meta: { about: query } } }),
  '/api/brain/recall': (query) => ({ query }),
  '/api/brain/search': (query) => ({ query }),
  '/api/memory/diagnose': (query) => ({ query, id: `node:${query}`.slice(0, 600) }),
}

describe('B6: any text at all', () => {
  it('is a question, an anchor or a name that every route which reads answers', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, fc.constantFrom(...Object.keys(READS)), async (text, path) => {
        fc.pre(text !== '')
        const { status, body } = await post(path, { scope, ...READS[path]?.(text) })
        assert.equal(status, 200, `${path} ${JSON.stringify(body)}`)
      }),
      { numRuns: 60 },
    )
  })

  it('is content that is taken in or refused, and never fails', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        fc.pre(/\S/u.test(text))
        const { status } = await post('/api/memory/observations', {
          scope,
          kind: 'note',
          content: text,
          assertions: [{ assert: 'entity', entity: { key: 'a', title: text.slice(0, 500) } }],
        })
        assert.ok([201, 400].includes(status), String(status))
      }),
      { numRuns: 25 },
    )
  })

  for (const [operationId, route] of Object.entries<Route>(memoryRoutes)) {
    it(`never makes ${operationId} fail`, async () => {
      await fc.assert(
        fc.asyncProperty(anyBody(route.body, namespace), anyText, async (body, text) => {
          const isRead = route.method === 'GET' || route.method === 'DELETE'
          const search = isRead
            ? `?namespace=${namespace}&natural_key=${encodeURIComponent(text)}`
            : ''
          const response = await memory.fetch(
            new URL(`${pathOf(route)}${search}`, 'http://memory.test'),
            isRead
              ? { method: route.method }
              : {
                  method: route.method,
                  headers: { 'content-type': 'application/json' },
                  body: JSON.stringify(body),
                },
          )
          assert.ok(response.status < 500, `${response.status} ${await response.text()}`)
        }),
        { numRuns: 8 },
      )
    })
  }
})
