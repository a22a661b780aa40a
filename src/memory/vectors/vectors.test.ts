import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { ModelError } from '#model/embedder.ts'
import type { Embedder } from '#model/embedder.ts'
import { fakeEmbedder } from '#model/fake-embedder.ts'
import { ownDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { embedNext } from './embed-next.ts'
import { leaseNamespace } from './progress.sql.ts'

const signal = new AbortController().signal

/** A model that knows which words mean the same: each group of words is one direction. */
const meaning = (model: string, ...groups: string[][]): Embedder => ({
  model,
  embed: async (texts) =>
    texts.map((text) => {
      const words = new Set(text.toLowerCase().match(/\p{L}+/gu))
      const vector = groups.map((group) => Number(group.some((word) => words.has(word))))
      const length = Math.hypot(...vector) || 1
      return Float32Array.from(vector, (value) => value / length)
    }),
})
const TRANSPORT = meaning('transport', ['automobile', 'lorry'], ['bread', 'loaf'])

async function scene(t: TestContext, embedder: Embedder | undefined = TRANSPORT) {
  const db = await ownDb(t, 'memory')
  const memory = testMemory(db, {}, { embedder })
  const { namespace } = memory
  const scope = { namespace }
  const tell = async (...contents: (string | object)[]): Promise<string[]> => {
    const { body } = await memory.post('/api/memory/observations:batch', {
      observations: contents.map((content, second) => ({
        source: { system: 'test', stream: 's', external_id: randomUUID() },
        kind: 'note',
        occurred_at: new Date(Date.UTC(2026, 0, 10) + second * 1000).toISOString(),
        ...(typeof content === 'string' ? { content } : content),
      })),
      scope,
    })
    return body.results.map((one: { observation_id: string }) => one.observation_id)
  }
  const embedAll = async (model: Embedder = TRANSPORT) => {
    let batches = 0
    while (await embedNext(db, model, signal)) batches++
    return batches
  }
  const ask = async (query: string, more: object = {}) => {
    const { status, body } = await memory.post('/api/memory/context', {
      query,
      strategy: 'semantic',
      scope,
      ...more,
    })
    assert.equal(status, 200, JSON.stringify(body))
    const items = body.sections.flatMap((section: { items: { id: string }[] }) => section.items)
    return { ids: items.map(({ id }: { id: string }) => id), warnings: body.warnings as string[] }
  }
  const vectors = () =>
    db<{ model: string; vectors: number }[]>`
      select model, count(*)::int as vectors from vectors group by model order by model`
  return { db, memory, scope, tell, embedAll, ask, vectors: async () => [...(await vectors())] }
}

describe('search by meaning', () => {
  it('finds what shares no word with the question, for readers who may see it', async (t) => {
    const { tell, embedAll, ask } = await scene(t)
    const [, open, hidden] = await tell('The loaf is fresh', 'Our lorry broke down', {
      content: 'A lorry of the other team',
      scopes: ['workspace:b'],
    })
    await embedAll()

    assert.deepEqual(new Set((await ask('automobile')).ids), new Set([open, hidden]))
    assert.deepEqual((await ask('automobile', { allowed_scopes: [] })).ids, [open])
    assert.deepEqual((await ask('automobile', { as_of: '2026-01-01T00:00:00Z' })).ids, [])
  })

  it('knows what was written since, and forgets what was redacted at once', async (t) => {
    const { memory, scope, tell, embedAll, ask, vectors } = await scene(t)
    await tell('The loaf is fresh')
    await embedAll()
    const [lorry] = await tell('Our lorry broke down')
    assert.deepEqual((await ask('automobile')).ids, [])
    await embedAll()
    assert.deepEqual((await ask('automobile')).ids, [lorry])

    const { status } = await memory.delete(
      `/api/memory/observations/${lorry}?namespace=${scope.namespace}&mode=redact`,
    )

    assert.equal(status, 200)
    assert.deepEqual(await vectors(), [{ model: 'transport', vectors: 1 }])
    assert.deepEqual((await ask('automobile')).ids, [])
  })

  it('answers by words, with a warning, while the model does not answer', async (t) => {
    const broken: Embedder = {
      model: 'broken',
      embed: async () => {
        throw new ModelError('no')
      },
    }
    const { db, tell, ask } = await scene(t, broken)
    const [lorry] = await tell('Our lorry broke down')
    await assert.rejects(embedNext(db, broken, signal), ModelError)
    assert.equal(await embedNext(db, broken, signal), false, 'it is left alone for a while')

    const { ids, warnings } = await ask('lorry')

    assert.deepEqual(ids, [lorry])
    assert.deepEqual(warnings, ['semantic search is unavailable: its model does not answer'])
  })
})

describe('embedding in the background', () => {
  it('embeds everything anew for another model, in batches, and leaves nothing of the old one', async (t) => {
    const { tell, embedAll, vectors } = await scene(t)
    await tell(...Array.from({ length: 150 }, (_, i) => `Lorry number ${i}`))
    assert.ok((await embedAll()) >= 3)
    assert.deepEqual(await vectors(), [{ model: 'transport', vectors: 150 }])

    const other = fakeEmbedder(8)
    await embedAll(other)

    assert.deepEqual(await vectors(), [{ model: 'fake/8', vectors: 150 }])
    assert.equal(await embedAll(other), 0, 'nothing is left to do')
  })

  it('embeds a large write in parts, each item once', async (t) => {
    const { tell, embedAll, vectors } = await scene(t)
    await tell('First')
    await embedAll()
    const texts: string[] = []
    const counting: Embedder = {
      ...TRANSPORT,
      embed: async (some, aborted) => {
        texts.push(...some)
        return await TRANSPORT.embed(some, aborted)
      },
    }
    await tell(...Array.from({ length: 200 }, (_, i) => `Loaf number ${i}`))

    await embedAll(counting)

    assert.equal(texts.length, 200)
    assert.equal(new Set(texts).size, 200)
    assert.deepEqual(await vectors(), [{ model: 'transport', vectors: 201 }])
  })

  it('reads everything again when changes are missing from the log', async (t) => {
    const { db, tell, embedAll, vectors } = await scene(t)
    await tell('First')
    await embedAll()
    for (const text of ['Our lorry', 'Your loaf', 'Their bread']) await tell(text)
    await db`delete from changes where version < (select max(version) from changes)`

    await embedAll()

    assert.deepEqual(await vectors(), [{ model: 'transport', vectors: 4 }])
  })

  it('goes on where a process stopped that died while it asked the model', async (t) => {
    const { db, tell, embedAll, vectors } = await scene(t)
    await tell(...Array.from({ length: 100 }, (_, i) => `Lorry number ${i}`))
    await embedNext(db, TRANSPORT, signal)
    const dead = await leaseNamespace(db, TRANSPORT.model, { id: randomUUID(), seconds: 60 })
    assert.equal(await embedAll(), 0, 'the namespace is held')

    await db`update vector_progress set leased_until = now() - interval '1 second'`
    await embedAll()

    assert.ok(dead)
    assert.deepEqual(await vectors(), [{ model: 'transport', vectors: 100 }])
  })

  it('writes nothing for a lease that has gone to somebody else', async (t) => {
    const { db, tell, embedAll, vectors } = await scene(t)
    await tell('Our lorry broke down')
    const slow: Embedder = {
      ...TRANSPORT,
      embed: async (texts, aborted) => {
        await db`update vector_progress set lease = ${randomUUID()}::uuid`
        return await TRANSPORT.embed(texts, aborted)
      },
    }

    await embedNext(db, slow, signal)

    assert.deepEqual(await vectors(), [])
    await db`update vector_progress set leased_until = '-infinity'`
    await embedAll()
    assert.deepEqual(await vectors(), [{ model: 'transport', vectors: 1 }])
  })
})
