import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { selectNamespaces } from '../recall/lexical.sql.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { deleteOldChanges } from '../store/namespace.sql.ts'
import { KEPT_CHANGES, SHORTENED_EVERY } from '../store/write.ts'
import { estimatedBytes } from './estimate.ts'
import { createIndexes } from './indexes.ts'
import { createNamespaceIndex } from './namespace-index.ts'

const db = await sharedMemoryDb()
const MEGABYTE = 1_048_576

const quiet = () => {}
const scopeOf = (namespace: string) => ({ namespace })

/** Indexes with a clock that stands still, and everything they tell. */
function watched(budgetBytes: number) {
  const told = { loaded: 0, failed: 0, dropped: 0, errors: [] as string[] }
  const time = { now: 0 }
  const log = {
    debug: quiet,
    info: quiet,
    warn: quiet,
    error: (message: string) => told.errors.push(message),
    with: () => log,
  }
  const meter = {
    loaded: () => (told.loaded += 1),
    failed: () => (told.failed += 1),
    dropped: () => (told.dropped += 1),
    sized: quiet,
  }
  return { told, time, indexes: createIndexes({ budgetBytes, log, meter, clock: () => time.now }) }
}

const tell = async (memory: ReturnType<typeof testMemory>, namespace: string, content: string) =>
  await memory.post('/api/memory/observations', {
    source: { system: 'test', stream: 's', external_id: randomUUID() },
    kind: 'note',
    content,
    scope: scopeOf(namespace),
  })
const idsOf = async (memory: ReturnType<typeof testMemory>, namespace: string, query: string) => {
  const { body } = await memory.post('/api/brain/search', { query, scope: scopeOf(namespace) })
  assert.equal(body.engine, 'index')
  return body.hits.map(({ id }: { id: string }) => id)
}

async function filled(observations: number): Promise<string> {
  const { namespace, post } = testMemory(db)
  for (let start = 0; start < observations; start += 500) {
    const batch = Array.from({ length: Math.min(500, observations - start) }, (_, n) => ({
      source: { system: 'test', stream: 's', external_id: randomUUID() },
      kind: 'note',
      content: `Number ${start + n} of the words ${randomUUID()}`,
    }))
    await post('/api/memory/observations:batch', { observations: batch, scope: { namespace } })
  }
  return namespace
}

async function rowOf(namespace: string): Promise<NamespaceRow> {
  const [row] = await selectNamespaces(db, [namespace])
  assert.ok(row)
  return row
}

describe('the indexes of a process', () => {
  it('try a reading that failed again, after pauses that grow, and say so meanwhile', async () => {
    const { told, time, indexes } = watched(64 * MEGABYTE)
    const row = await rowOf(await filled(3))
    const nowhere: Sql = connect(
      { url: 'postgres://nobody:x@127.0.0.1:1/none' },
      { maxConnections: 1, appName: 'test' },
    )

    assert.equal(await indexes.upToDate(nowhere, row), undefined)
    assert.deepEqual([told.failed, told.errors], [1, ['Cannot read a search index']])
    assert.equal(await indexes.upToDate(db, row), undefined, 'a pause lies between')
    time.now += 1_001
    assert.equal(await indexes.upToDate(nowhere, row), undefined)
    time.now += 1_001
    assert.equal(await indexes.upToDate(db, row), undefined, 'the second pause is longer')
    time.now += 1_001

    assert.equal((await indexes.upToDate(db, row))?.slots, 3)
    assert.equal(told.failed, 2)
  })

  it('leave a namespace that is too large to the database until it may fit', async () => {
    const row = await rowOf(await filled(1_500))
    const whole = watched(64 * MEGABYTE)
    const bytes = (await whole.indexes.upToDate(db, row))?.bytes ?? 0
    assert.ok(bytes > 0)
    const { told, indexes } = watched(bytes / 2)
    const small = { ...row, sizes: [{ kind: 'observation' as const, items: 10, words: 50 }] }

    assert.equal(await indexes.upToDate(db, small), undefined, 'it is larger than it seems')
    assert.equal(indexes.bytes, 0)
    assert.equal(await indexes.upToDate(db, small), undefined, 'and is not read again for nothing')
    const smaller = { ...row, sizes: [{ kind: 'observation' as const, items: 1, words: 5 }] }
    await indexes.upToDate(db, smaller)
    assert.equal(told.failed, 0)
    const roomy = watched(bytes * 2)
    assert.ok(await roomy.indexes.upToDate(db, row))
  })

  it('drop those that were not used for longest to stay within the budget', async () => {
    const rows = [
      await rowOf(await filled(200)),
      await rowOf(await filled(200)),
      await rowOf(await filled(200)),
    ]
    const whole = watched(64 * MEGABYTE)
    const bytes = (await whole.indexes.upToDate(db, rows[0] as NamespaceRow))?.bytes ?? 0
    const { told, indexes } = watched(bytes * 2.5)

    for (const row of rows) assert.ok(await indexes.upToDate(db, row))

    assert.equal(indexes.count, 2)
    assert.equal(told.dropped, 1)
    assert.ok(indexes.bytes <= bytes * 2.5)
  })

  it('answer from the database while a large namespace is read, and then from the index', async () => {
    const row = await rowOf(await filled(10))
    const many = { ...row, sizes: [{ kind: 'observation' as const, items: 30_000, words: 90_000 }] }
    const { indexes } = watched(64 * MEGABYTE)

    assert.equal(await indexes.upToDate(db, many), undefined)
    await waitFor(async () => (await indexes.upToDate(db, many)) !== undefined)
  })
})

describe('the log of changes', () => {
  it('may be shorter than what a process missed: it reads everything anew', async () => {
    const [one, other] = [testMemory(db), testMemory(db)]
    const { namespace } = one
    await tell(one, namespace, 'Alpha was told first')
    assert.equal((await idsOf(one, namespace, 'alpha')).length, 1)
    for (const word of ['beta', 'gamma', 'delta']) await tell(other, namespace, `Then ${word}`)
    const { id, version } = await rowOf(namespace)

    await deleteOldChanges(db, id, { version, keep: 2 })

    const left = await db`select version from changes where namespace_id = ${id}`
    assert.deepEqual(
      left.map((row) => Number(row['version'])),
      [version],
    )
    for (const word of ['alpha', 'beta', 'gamma', 'delta'])
      assert.equal((await idsOf(one, namespace, word)).length, 1, word)
  })

  it('tells an index of another history, as after a restore, to be read anew', async () => {
    const [one, other] = [testMemory(db), testMemory(db)]
    const { namespace } = one
    await tell(one, namespace, 'Alpha of the first history')
    assert.equal((await idsOf(one, namespace, 'alpha')).length, 1)
    const { id } = await rowOf(namespace)
    // The database of before, in which something else was told under the same numbers.
    await db`delete from observations where namespace_id = ${id}`
    await db`delete from changes where namespace_id = ${id}`
    await db`update namespaces set version = 0, last_item = 0 where id = ${id}`
    await tell(other, namespace, 'Omega of the second history')
    await tell(other, namespace, 'And more of omega')

    assert.deepEqual(await idsOf(one, namespace, 'alpha'), [])
    assert.equal((await idsOf(one, namespace, 'omega')).length, 2)
  })

  it('is shortened by whoever writes, to what costs less than reading everything', async () => {
    const memory = testMemory(db)
    const { namespace } = memory
    await tell(memory, namespace, 'The first')
    const { id } = await rowOf(namespace)
    await db`
      insert into changes (namespace_id, version, kind, items)
      select ${id}, version, 'node', case version when 5 then array_fill(1::bigint, array[${KEPT_CHANGES}::int]) else '{}' end
      from generate_series(2, ${SHORTENED_EVERY - 1}::int) as version`
    await db`update namespaces set version = ${SHORTENED_EVERY - 1} where id = ${id}`

    await tell(memory, namespace, 'The last')

    const [row] = await db`
      select min(version)::int as first, max(version)::int as last, count(*)::int as count
      from changes where namespace_id = ${id}`
    assert.deepEqual({ ...row }, { first: 6, last: SHORTENED_EVERY, count: SHORTENED_EVERY - 5 })
  })
})

describe('the memory of an index', () => {
  it('is what its arrays take, and about what is estimated from the sizes of the namespace', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const taken = async () => {
      // What nobody holds any more is given back by and by.
      for (let turn = 0; turn < 5; turn++) {
        collect()
        await setImmediate()
      }
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const items = 20_000
    const words = 24
    const before = await taken()
    const index = createNamespaceIndex('1')
    for (let n = 0; n < items; n++) index.put(itemOf(n, words))
    for (const _ of index.postings.compact());
    const real = (await taken()) - before

    assert.ok(index.bytes > 0.7 * real && index.bytes < 1.4 * real, `${index.bytes} for ${real}`)
    const estimate = estimatedBytes([{ kind: 'observation', items, words: items * words }])
    assert.ok(estimate > 0.6 * real && estimate < 1.6 * real, `${estimate} estimated for ${real}`)
    assert.equal(index.slots, items)
  })
})

/** A message of a session of twenty. */
function itemOf(n: number, words: number) {
  const hashes = Array.from({ length: words }, (_, i) => BigInt((n * 7919 + i * i * 31) % 20_000))
  return {
    item: String(n + 1),
    kind: 'observation' as const,
    shape: 'short' as const,
    grp: `session:${Math.floor(n / 20)}`,
    author: `p${n % 5}`,
    place: 0,
    words,
    startsAt: n,
    validTo: null,
    ingestedAt: n,
    closedAt: null,
    retiredAt: null,
    replaced: false,
    scopes: [`session:${Math.floor(n / 20)}`],
    audience: [],
    terms: wire([...new Set(hashes)], 8),
    tfs: wire(
      [...new Set(hashes)].map(() => 8n),
      2,
    ),
  }
}

/** As `array_send` writes it. */
function wire(numbers: readonly bigint[], size: 2 | 8): Buffer {
  const bytes = Buffer.alloc(20 + numbers.length * (4 + size))
  bytes.writeInt32BE(1, 0)
  bytes.writeInt32BE(numbers.length, 12)
  for (const [i, number] of numbers.entries()) {
    const at = 20 + i * (4 + size)
    bytes.writeInt32BE(size, at)
    if (size === 8) bytes.writeBigInt64BE(number, at + 4)
    else bytes.writeInt16BE(Number(number), at + 4)
  }
  return bytes
}
