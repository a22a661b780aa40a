import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { file, imports, memorySources } from '../../../test/support/memory-sources.ts'

const db = await sharedMemoryDb()

const sources = () => memorySources(db)

describe('reconciling a source', () => {
  it('opens what is new, and leaves alone what comes again', async () => {
    const { reconcile, rows, head } = sources()
    const said = { entities: [file('a'), file('b')], relations: [imports('a', 'b')] }
    const { status, body } = await reconcile('s1', 1, said)
    assert.equal(status, 200)
    assert.deepEqual([body.opened, body.closed, body.unchanged, body.superseded], [3, 0, 0, 0])
    assert.deepEqual(body.relations, {
      opened: 1,
      closed: 0,
      unchanged: 0,
      superseded: 0,
      pending: 0,
      resolved: 0,
      retried: 0,
    })
    assert.deepEqual(body.changes.opened, [
      { kind: 'file', key: 'file:a' },
      { kind: 'file', key: 'file:b' },
    ])
    assert.match(body.stateToken, /^st1-/)
    const before = [await rows('nodes'), await rows('edges')]
    const again = await reconcile('s2', 2, { ...said, entities: said.entities.toReversed() })
    assert.deepEqual([again.body.opened, again.body.unchanged], [0, 3])
    assert.equal(again.body.stateToken, body.stateToken)
    assert.deepEqual([await rows('nodes'), await rows('edges')], before)
    assert.equal((await head())?.version, '2')
  })

  it('answers the same snapshot with the counters it got, whatever it says now', async () => {
    const { reconcile, head, rows } = sources()
    const first = await reconcile('s1', 1, { entities: [file('a')] })
    const before = [await head(), await rows('nodes')]
    const again = await reconcile('s1', 1, { entities: [file('a')], expectedState: 'st1-other' })
    const { changes: _, ...counters } = first.body
    assert.deepEqual(again.body, {
      ...counters,
      changes: { opened: [], changed: [], closed: [], limit: 1000, truncated: false },
      duplicate: true,
    })
    const other = await reconcile('s1', 3, { entities: [file('b')] })
    assert.deepEqual([other.body.duplicate, other.body.contentDiffers], [true, true])
    assert.deepEqual([await head(), await rows('nodes')], before)
  })

  it('closes what changed and what is missing at the snapshot’s moment, and keeps what was', async () => {
    const { reconcile, entities, ledger, rows } = sources()
    await reconcile('s1', 1, {
      entities: [file('a', { size: 1, old: true }), file('b'), file('c')],
      relations: [imports('a', 'b', { lines: 1 }), imports('a', 'c')],
    })
    const { body } = await reconcile('s2', 5, {
      entities: [file('a', { size: 2 }), file('b')],
      relations: [imports('a', 'b', { lines: 2 })],
    })
    assert.deepEqual(body.entities, { opened: 1, closed: 2, unchanged: 1, superseded: 1 })
    assert.deepEqual(
      [body.relations.opened, body.relations.closed, body.relations.superseded],
      [1, 2, 1],
    )
    assert.deepEqual(body.changes.changed, [{ kind: 'file', key: 'file:a' }])
    assert.deepEqual(body.changes.closed, [{ kind: 'file', key: 'file:c' }])
    assert.deepEqual(await entities(), [
      ['a', { size: 2 }],
      ['b', {}],
    ])
    assert.deepEqual(await entities({ asOf: '2026-01-03' }), [
      ['a', { size: 1, old: true }],
      ['b', {}],
      ['c', {}],
    ])
    assert.deepEqual(await entities({ asOf: '2025-12-31' }), [])
    const versions = (await ledger('snapshot_entities')).filter(({ key }) => key === 'file:a')
    assert.deepEqual(
      versions.map(({ superseded, closedBy }) => [superseded, closedBy === null]),
      [
        [true, false],
        [false, true],
      ],
    )
    const edges = await rows('edges')
    const [old, gone, fresh] = edges
    assert.equal(edges.length, 3)
    assert.deepEqual(
      [old?.supersededBy, gone?.supersededBy, fresh?.supersedes],
      [fresh?.factId, null, old?.factId],
    )
    assert.equal(old?.validTo.toISOString(), '2026-01-05T00:00:00.000Z')
  })

  it('opens anew what comes back, as another edge', async () => {
    const { reconcile, entities, rows } = sources()
    const both = { entities: [file('a'), file('b')], relations: [imports('a', 'b')] }
    await reconcile('s1', 1, both)
    await reconcile('s2', 2, { entities: [file('b')] })
    await reconcile('s3', 3, both)
    assert.equal((await entities()).length, 2)
    assert.equal((await entities({ asOf: '2026-01-02T12:00:00Z' })).length, 1)
    const ids = (await rows('edges')).map(({ factId }) => factId as string)
    assert.equal(new Set(ids).size, 2)
  })

  it('lets a relation wait for its end, whichever snapshot brings it', async () => {
    const { reconcile, rows, ledger } = sources()
    const first = await reconcile('s1', 1, {
      entities: [file('a')],
      relations: [imports('a', 'b'), imports('a', 'z')],
    })
    assert.deepEqual([first.body.relations.opened, first.body.relations.pending], [2, 2])
    assert.equal((await rows('edges')).length, 0)
    const other = await reconcile('t1', 2, { scope: 'acme/lib', entities: [file('b')] })
    assert.deepEqual(
      [other.body.relations.retried, other.body.relations.resolved, other.body.relations.pending],
      [1, 1, 0],
    )
    const again = await reconcile('s2', 3, {
      entities: [file('a')],
      relations: [imports('a', 'b'), imports('a', 'z')],
    })
    assert.deepEqual(
      [again.body.relations.retried, again.body.relations.resolved, again.body.relations.pending],
      [1, 0, 1],
    )
    const [edge, ...more] = await rows('edges')
    assert.equal(more.length, 0)
    assert.deepEqual(
      [edge?.subject, edge?.object, edge?.validFrom.toISOString(), edge?.snapshotId],
      ['file:a', 'file:b', '2026-01-01T00:00:00.000Z', 's1'],
    )
    const waiting = (await ledger('snapshot_relations')).filter(({ factId }) => factId === null)
    assert.deepEqual(
      waiting.map(({ toKey }) => toKey),
      ['file:z'],
    )
  })

  it('refuses what is stale, and names the state there is', async () => {
    const { reconcile, rows } = sources()
    const { body } = await reconcile('s1', 10, { entities: [file('a')] })
    const older = await reconcile('s0', 9, { entities: [file('b')] })
    assert.deepEqual([older.status, older.body.code], [409, 'snapshot_stale'])
    const wrong = await reconcile('s2', 11, { entities: [file('b')], expectedState: 'st1-x' })
    assert.deepEqual([wrong.status, wrong.body.stateToken], [409, body.stateToken])
    const right = await reconcile('s3', 11, {
      entities: [file('b')],
      expected_state: body.stateToken,
    })
    assert.equal(right.status, 200)
    assert.equal((await rows('nodes')).length, 2)
  })

  it('takes an empty snapshot of a source that is not only when it is meant', async () => {
    const { reconcile, entities } = sources()
    assert.equal((await reconcile('s0', 1)).status, 200)
    await reconcile('s1', 2, { entities: [file('a')] })
    const refused = await reconcile('s2', 3)
    assert.deepEqual([refused.status, refused.body.code], [422, 'snapshot_empty'])
    assert.equal((await entities()).length, 1)
    const meant = await reconcile('s2', 3, { allowEmpty: true })
    assert.deepEqual([meant.status, meant.body.closed], [200, 1])
    assert.equal((await entities()).length, 0)
  })

  it('tells in a dry run what would happen and leaves nothing behind', async () => {
    const { reconcile, head, rows, ledger } = sources()
    await reconcile('s1', 1, { entities: [file('a')] })
    const before = [await head(), await rows('nodes'), await ledger('snapshot_entities')]
    const said = { entities: [file('b')], relations: [imports('b', 'c')] }
    const dry = await reconcile('s2', 2, { ...said, dryRun: true })
    assert.deepEqual([dry.body.dryRun, dry.body.opened, dry.body.closed], [true, 2, 1])
    assert.deepEqual([await head(), await rows('nodes'), await ledger('snapshot_entities')], before)
    const real = await reconcile('s2', 2, said)
    assert.deepEqual({ ...real.body, dryRun: true }, dry.body)
  })

  for (const [what, change, loc] of [
    ['an entity said twice', { entities: [file('a'), file('a')] }, 'body.entities.1'],
    [
      'a relation said twice',
      { relations: [imports('a', 'b'), imports('a', 'b')] },
      'body.relations.1',
    ],
    ['an entity without a key', { entities: [{ kind: 'file' }] }, 'body.entities.0.key'],
    ['a kind in capitals', { entities: [{ kind: 'File', key: 'a' }] }, 'body.entities.0.kind'],
    [
      'a reserved attribute',
      { entities: [file('a', { scopes: [] })] },
      'body.entities.0.attributes',
    ],
    ['no moment', { observedAt: 'yesterday' }, 'body.observed_at'],
    ['an unknown field', { entitys: [] }, 'body.entitys'],
    ['a long source', { source: 'x'.repeat(201) }, 'body.source'],
  ] as const) {
    it(`refuses ${what} before it writes anything`, async () => {
      const { reconcile, rows } = sources()
      const { status, body } = await reconcile('s1', 1, { entities: [file('ok')], ...change })
      assert.equal(status, 400)
      assert.equal(body.errors[0].loc, loc)
      assert.equal((await rows('nodes')).length, 0)
    })
  }
})
