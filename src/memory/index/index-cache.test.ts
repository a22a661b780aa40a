import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  copyFile,
  mkdtemp,
  readFile,
  readdir,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { jsonLog } from '#lib/log.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { ITEM_KINDS } from '#contract/memory-context.ts'
import { selectNamespaces } from '../recall/lexical.sql.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { understand } from '../recall/query.ts'
import { audienceFor } from '../visibility.ts'
import { findInIndex } from './find-in-index.ts'
import { createIndexCache } from './index-cache.ts'
import { createIndexes } from './indexes.ts'
import type { NamespaceIndex } from './namespace-index.ts'

const db = await sharedMemoryDb()
const folder = await mkdtemp(join(tmpdir(), 'strata-index-'))
after(() => rm(folder, { recursive: true, force: true }))

const log = jsonLog(
  () => {},
  () => new Date(),
)
const WORDS = 'harbour valve pump turbine ladder бойлер насос клапан'.split(' ')

const note = (content: string, n = 0) => ({
  source: { system: 'test', stream: 's', external_id: randomUUID() },
  kind: 'note',
  occurred_at: `2026-01-10T10:00:${String(n).padStart(2, '0')}Z`,
  actor: { type: 'person', id: `p${n % 3}` },
  scopes: n % 4 === 0 ? [`session:${n % 3}`, 'workspace:a'] : [`session:${n % 3}`],
  content,
})

/** A namespace with messages in sessions and a document, and a folder of its own for its index. */
async function filled() {
  const { namespace, post } = testMemory(db)
  const tell = (...contents: string[]) =>
    post('/api/memory/observations:batch', {
      observations: contents.map(note),
      scope: { namespace },
    })
  await tell(...Array.from({ length: 30 }, (_, n) => `The ${WORDS[n % 8]} of site ${n} is checked`))
  await post('/api/brain/documents', {
    natural_key: 'doc:1',
    title: 'Handbook',
    chunks: [
      { text: 'How the turbine is greased', order: 0 },
      { text: 'And the насос', order: 1 },
    ],
    namespace,
  })
  const own = await mkdtemp(join(folder, 'of-'))
  return { namespace, tell, own }
}

async function rowOf(namespace: string): Promise<NamespaceRow> {
  const [row] = await selectNamespaces(db, [namespace])
  assert.ok(row)
  return row
}

/** The index that a process which has just started comes to, with what it wrote by then. */
async function started(own: string, namespace: string): Promise<NamespaceIndex> {
  const cache = createIndexCache(own, { log, minSlots: 1 })
  const indexes = createIndexes({ budgetBytes: 64 * 1_048_576, log, cache })
  const index = await indexes.upToDate(db, await rowOf(namespace))
  await cache.idle()
  assert.ok(index)
  return index
}

/** Takes an item out of the store behind the log's back: an index that still has it was not read from there. */
async function hideOne(namespace: string): Promise<void> {
  const { id } = await rowOf(namespace)
  await db`
    delete from observations
    where namespace_id = ${id} and item = (select min(item) from observations where namespace_id = ${id})`
}

async function answers(index: NamespaceIndex, namespace: string) {
  const row = await rowOf(namespace)
  const reader = { asOf: null, knownAt: null, relevance: { filter: 'none' as const } }
  return ['turbine harbour', 'насос', 'valv', 'p1 pump', 'ladders of site 4'].flatMap((text) =>
    [null, ['workspace:a'], []].map((allowed) =>
      findInIndex(index, {
        namespace: row,
        reader: { ...reader, audience: audienceFor(allowed) },
        query: understand(text),
        kinds: ITEM_KINDS,
      }).map(({ unit, score }) => [unit.item, score]),
    ),
  )
}

describe('a snapshot of an index', () => {
  it('makes a process that starts anew answer as one that read the database', async () => {
    const { namespace, own, tell } = await filled()
    const first = await started(own, namespace)
    await hideOne(namespace)

    const second = await started(own, namespace)

    assert.equal(second.slots, first.slots, 'it was not read from the database')
    assert.deepEqual(await answers(second, namespace), await answers(first, namespace))
    assert.equal(second.version, first.version)
    const [file = ''] = await readdir(own)
    assert.equal((await stat(join(own, file))).mode & 0o077, 0, 'nobody else may read it')
    await tell('A boiler is new', 'Another boiler')
    const third = await started(own, namespace)
    assert.equal(third.slots, first.slots + 2)
  })

  it('is ignored when a byte of it has changed, wherever that is', async () => {
    const { namespace, own } = await filled()
    const whole = await started(own, namespace)
    await hideOne(namespace)
    const [file = ''] = await readdir(own)
    const bytes = await readFile(join(own, file))
    const places = Array.from({ length: 12 }, (_, n) => Math.floor((n * bytes.length) / 12))
    for (const [n, place] of [...places, 9, bytes.length - 1].entries()) {
      const damaged = Buffer.from(bytes)
      damaged[place] = (damaged[place] ?? 0) ^ 0x5a
      const other = await mkdtemp(join(folder, `damaged-${n}-`))
      await writeFile(join(other, file), damaged)

      assert.equal((await started(other, namespace)).slots, whole.slots - 1, `byte ${place}`)
    }
  })

  it('is ignored when it is cut off, empty, or of another namespace, and then made anew', async () => {
    const [one, two] = [await filled(), await filled()]
    const whole = await started(one.own, one.namespace)
    await started(two.own, two.namespace)
    await hideOne(one.namespace)
    const [file = ''] = await readdir(one.own)
    const [foreign = ''] = await readdir(two.own)
    const path = join(one.own, file)
    for (const spoil of [
      async () => await truncate(path, Math.floor((await stat(path)).size / 2)),
      async () => await truncate(path, 0),
      async () => await copyFile(join(two.own, foreign), path),
    ]) {
      await spoil()
      assert.equal((await started(one.own, one.namespace)).slots, whole.slots - 1)
    }
    assert.equal((await started(one.own, one.namespace)).slots, whole.slots - 1)
    assert.deepEqual(await readdir(one.own), [file], 'nothing else is left there')
  })

  it('is ignored when the database has another history', async () => {
    const { namespace, own } = await filled()
    const whole = await started(own, namespace)
    await hideOne(namespace)
    const { id } = await rowOf(namespace)
    await db`update changes set written_at = written_at + interval '1 second' where namespace_id = ${id}`

    assert.equal((await started(own, namespace)).slots, whole.slots - 1)
  })

  it('is done without where nothing can be written', async () => {
    const { namespace, own } = await filled()
    const file = join(own, 'no-folder')
    await writeFile(file, '')

    assert.ok((await started(join(file, 'below'), namespace)).slots > 0)
  })
})
