import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import {
  entity,
  fact,
  itemsOf,
  reasonsOf,
  recalling,
  textsOf,
} from '../../../test/support/recalling.ts'

const db = await sharedMemoryDb()

describe('B1: the author is not the visibility', () => {
  it('shows a decision in its workspace and not in a sibling, whoever asks', async () => {
    const { tell, ask } = recalling(db)
    await tell({
      content: 'Payments retry at most three times',
      scopes: ['task:1', 'workspace:w'],
      actor: { type: 'principal', id: 'a' },
    })
    const seen = async (...allowed: string[]) =>
      textsOf(await ask('payments retry', { allowed_scopes: allowed })).length
    assert.equal(await seen('workspace:w', 'principal:b'), 1)
    assert.equal(await seen('workspace:sibling', 'principal:c'), 0)
    assert.equal(await seen('workspace:sibling', 'principal:a'), 0)
    assert.equal(await seen('workspace:*', 'principal:c'), 1)
    assert.equal(await seen(), 0)
  })

  it('shows what belongs to no workspace in the whole namespace, focused or not', async () => {
    const { tell, ask } = recalling(db)
    await tell({ content: 'The office closes at nine', scopes: ['task:1'] })
    const focused = { allowed_scopes: ['workspace:w', 'principal:b'] }
    const scopes = ['principal:b', 'task:2', 'workspace:w']
    assert.equal(textsOf(await ask('office closes', { ...focused, scopes })).length, 1)
    assert.equal(textsOf(await ask('office closes', focused)).length, 1)
  })

  it('shows what every workspace holds to a reader who stands in none', async () => {
    const { tell, ask } = recalling(db)
    await tell({ content: 'The office closes at nine', scopes: ['task:1', 'workspace:w'] })
    const may = { allowed_scopes: ['workspace:*', 'principal:b'] }
    for (const scopes of [['principal:b'], ['principal:b', 'task:2'], []]) {
      assert.equal(textsOf(await ask('office closes', { ...may, scopes })).length, 1)
    }
    const elsewhere = ['principal:b', 'workspace:v']
    assert.equal(textsOf(await ask('office closes', { ...may, scopes: elsewhere })).length, 0)
  })

  it('keeps what is private to its author', async () => {
    const { tell, ask } = recalling(db)
    await tell({
      content: 'I am looking for another job',
      scopes: ['workspace:w'],
      actor: { type: 'principal', id: 'a' },
      data: { visibility: 'private' },
    })
    const seen = async (...allowed: string[]) =>
      textsOf(await ask('another job', { allowed_scopes: allowed })).length
    assert.equal(await seen('workspace:w', 'principal:b'), 0)
    assert.equal(await seen('workspace:*', 'principal:b'), 0)
    assert.equal(await seen('principal:a'), 1)
  })
})

describe('B2: as_of and known_at hold in every channel', () => {
  it('shows nothing that is not yet true or not yet known', async () => {
    const { tell, ask } = recalling(db)
    await tell({
      content: 'Pay runs on the old cluster',
      at: '2026-01-01T00:00:00Z',
      assertions: [fact('service:pay', 'RUNS_ON', 'cluster:old', { valid_from: '2026-01-01' })],
    })
    await tell({
      content: 'Pay runs on the new cluster',
      at: '2026-03-01T00:00:00Z',
      assertions: [
        fact('service:pay', 'RUNS_ON', 'cluster:new', { valid_from: '2026-03-01' }),
        { assert: 'text', text: { title: 'Cluster', content: 'The new cluster has GPUs' } },
        entity('cluster:new', 'New cluster'),
      ],
    })
    const about = { anchors: ['service:pay'] }
    const later = await ask('which cluster does pay run on', about)
    const found = [...new Set(itemsOf(later).map(({ kind }) => kind))].toSorted()
    assert.deepEqual(found, ['chunk', 'entity', 'fact', 'observation'])
    const before = await ask('which cluster does pay run on', {
      ...about,
      as_of: '2026-02-01T00:00:00Z',
    })
    assert.ok(textsOf(before).length > 0)
    assert.deepEqual(
      itemsOf(before).filter((item) => /new/i.test(JSON.stringify(item))),
      [],
    )
    const unknown = await ask('which cluster', { ...about, known_at: '2020-01-01T00:00:00Z' })
    assert.deepEqual(itemsOf(unknown), [])
  })
})

describe('B4: what is replaced is absent now and present before', () => {
  it('names the successor, without betraying one that is not seen', async () => {
    const { tell, ask } = recalling(db)
    const [old] = await tell({ content: 'Deploys happen on Friday', at: '2026-01-05T00:00:00Z' })
    const [successor] = await tell({
      content: 'Deploys happen on Monday',
      at: '2026-02-05T00:00:00Z',
      scopes: ['workspace:w'],
      data: { supersedes: old },
    })
    const now = await ask('when do deploys happen')
    assert.deepEqual(textsOf(now), ['Deploys happen on Monday'])
    assert.equal(reasonsOf(now)[String(old)], `superseded by ${successor}`)
    assert.deepEqual(itemsOf(now)[0]?.signals.supersedes, [old])
    const then = await ask('when do deploys happen', { as_of: '2026-01-20T00:00:00Z' })
    assert.deepEqual(textsOf(then), ['Deploys happen on Friday'])
    const outside = await ask('when do deploys happen', { allowed_scopes: ['workspace:other'] })
    assert.deepEqual(textsOf(outside), [])
    assert.equal(JSON.stringify(outside).includes(String(successor)), false)
  })
})

describe('B18: what is not seen is not reached', () => {
  it('hides private entities, facts and neighbours on every way to them', async () => {
    const { tell, ask } = recalling(db)
    await tell({
      content: 'An open note',
      assertions: [entity('service:pay', 'Pay'), fact('service:pay', 'USES', 'db:main')],
    })
    await tell({
      content: 'A closed note about pay',
      scopes: ['workspace:secret'],
      assertions: [
        entity('vault:keys', 'The vault of keys'),
        fact('service:pay', 'STORES_KEYS_IN', 'vault:keys'),
      ],
    })
    const closed = /vault|STORES|closed/i
    const outside = { allowed_scopes: ['workspace:other'] }
    for (const more of [
      { anchors: ['service:pay'] },
      { anchors: ['vault:keys'] },
      { anchors: ['keys'], strategy: 'graph' },
      { subject: { type: 'vault', id: 'keys' } },
      {},
    ]) {
      const query = 'where does pay store its keys? vault'
      const seen = await ask(query, { ...more, ...outside })
      assert.doesNotMatch(JSON.stringify(itemsOf(seen)), closed)
      assert.doesNotMatch(JSON.stringify(seen.budget.dropped), closed)
      assert.deepEqual(
        seen.stats.resolved.filter(({ keys }) => keys.some((key) => key.startsWith('vault'))),
        [],
      )
      const inside = await ask(query, { ...more, allowed_scopes: ['workspace:secret'] })
      assert.match(JSON.stringify(itemsOf(inside)), closed)
    }
  })
})
