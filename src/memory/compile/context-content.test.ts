import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import {
  entity,
  fact,
  reasonsOf,
  recalling,
  sectionOf,
  textsOf,
} from '../../../test/support/recalling.ts'

const db = await sharedMemoryDb()

describe('B3: noise never crowds out knowledge', () => {
  it('keeps a decision among fifty runs, which are one episode', async () => {
    const { tell, ask } = recalling(db)
    await tell({ content: 'Retries stay at three', kind: 'decision', scopes: ['task:1'] })
    await tell(
      ...Array.from({ length: 50 }, (_, i) => ({
        content: `run.started: attempt ${i}`,
        kind: 'run.started',
        scopes: ['task:1', `run:${i}`],
        at: `2026-01-11T10:00:${String(i).padStart(2, '0')}Z`,
      })),
    )
    for (const query of ['', 'run started attempt', 'what was decided about retries']) {
      const pack = await ask(query, { scopes: ['principal:p', 'task:1'] })
      assert.ok(textsOf(pack).includes('Retries stay at three'), query)
      assert.equal(sectionOf(pack, 'episodes').length, 1, query)
      const [kept] = sectionOf(pack, 'episodes')
      assert.ok(Object.values(reasonsOf(pack)).includes(`lifecycle of ${kept?.id}`))
    }
  })

  it('keeps what was decided about the task in question, whatever words it uses', async () => {
    const { tell, ask } = recalling(db)
    await tell({ content: 'Blue, not green', kind: 'decision', scopes: ['task:1', 'workspace:w'] })
    for (let day = 11; day < 15; day++) {
      await tell(
        ...Array.from({ length: 100 }, (_, i) => ({
          content: `The colour of the button on page ${i} was discussed on day ${day}`,
          scopes: [`task:${i + 2}`, 'workspace:w'],
          at: `2026-01-${day}T10:00:00Z`,
        })),
      )
    }
    const pack = await ask('Choose the colour of the button', {
      scopes: ['principal:p', 'task:1', 'workspace:w'],
      max_tokens: 600,
    })
    assert.ok(textsOf(pack).includes('Blue, not green'))
    assert.ok(textsOf(pack).length > 10)
  })

  it('keeps all that was learnt about the task in question beside documents that share its words', async () => {
    const { tell, ask } = recalling(db)
    const learnt = ['Blue it is', 'Keep the old name', 'Ask Boris first', 'Never on Fridays']
    await tell(
      ...learnt.map((content, i) => ({
        content,
        kind: i % 2 === 0 ? 'decision' : 'finding',
        scopes: ['task:1'],
      })),
    )
    await tell(
      ...Array.from({ length: 60 }, (_, i) => ({
        content: `About page ${i}`,
        assertions: [
          {
            assert: 'text',
            text: {
              key: `doc:${i}`,
              content: `Choose the colour of the button. ${'word '.repeat(150)}`,
            },
          },
        ],
      })),
    )
    const pack = await ask('Choose the colour of the button', {
      scopes: ['principal:p', 'task:1'],
      max_tokens: 1500,
    })
    assert.ok(sectionOf(pack, 'documents').length > 0)
    assert.deepEqual(
      sectionOf(pack, 'relevant_facts')
        .map(({ text }) => text)
        .toSorted(),
      learnt.toSorted(),
    )
  })

  it('drops an equal text as a duplicate and keeps what merely looks alike', async () => {
    const { tell, ask } = recalling(db)
    const [first, second] = await tell(
      { content: 'The limit is 100 rps' },
      { content: 'the limit  is 100 RPS' },
      { content: 'The limit is 110 rps' },
      { content: 'Встреча 15 октября' },
      { content: 'Встреча 16 октября' },
    )
    const pack = await ask('limit rps')
    const limits = textsOf(pack).flatMap((text) => /limit.* (\d+)/i.exec(text)?.[1] ?? [])
    assert.deepEqual(new Set(limits), new Set(['100', '110']))
    assert.equal(limits.length, 2)
    const dropped = reasonsOf(pack)
    assert.ok(
      dropped[String(first)] === `duplicate of ${second}` ||
        dropped[String(second)] === `duplicate of ${first}`,
    )
    assert.equal(textsOf(await ask('когда встреча')).filter((t) => /октября/.test(t)).length, 2)
  })
})

describe('B6: two languages, code, and any text at all', () => {
  it('finds inflected words, identifiers whole and by part, and literal signs', async () => {
    const { tell, ask } = recalling(db)
    await tell(
      { content: 'Обратимые миграции проверяются в сборке' },
      { content: 'Call get_user_name from src/memory/search.ts' },
      { content: 'The discount is 100%_off' },
      { content: '東京の会議は金曜日です' },
    )
    const best = async (query: string) => textsOf(await ask(query, { strategy: 'exact' }))[0]
    assert.match((await best('как проверить обратимость миграций')) ?? '', /миграции/)
    assert.match((await best('user name')) ?? '', /get_user_name/)
    assert.match((await best('search.ts')) ?? '', /search\.ts/)
    assert.match((await best('getUserName')) ?? '', /get_user_name/)
    assert.match((await best('100%_off')) ?? '', /discount/)
    assert.match((await best('東京')) ?? '', /東京/)
    assert.equal(await best('%'), undefined)
    assert.equal(await best('___'), undefined)
  })

  it('never fails on a query', async () => {
    const { tell, ask } = recalling(db)
    await tell({ content: 'something' })
    const queries = [
      `'"\\;--/* */ $1 %s {} []`,
      'a & b | !c <-> d:*',
      '👩‍👩‍👧‍👦 🇷🇺 \u202e\u200b\ufeff',
      'a'.repeat(2000),
      'слово '.repeat(333),
      '/'.repeat(2000),
      'a.b_c-D/1'.repeat(200),
      '(((((((((((',
      '\u0001\u001f',
    ]
    for (const query of queries) await ask(query, { anchors: [query.slice(0, 300)] })
  })
})

describe('the graph', () => {
  it('starts from anchors, aliases and ends of names, and brings facts and neighbours', async () => {
    const { tell, ask } = recalling(db)
    await tell({
      content: 'An inventory of services',
      assertions: [
        entity('service:payments', 'Payments', { aliases: ['billing-api'] }),
        entity('team:gold', 'Team Gold'),
        entity('person:ann', 'Ann'),
        fact('service:payments', 'OWNED_BY', 'team:gold'),
        fact('team:gold', 'LED_BY', 'person:ann'),
      ],
    })
    for (const [input, how] of [
      ['service:payments', 'key'],
      ['billing-api', 'alias'],
      ['payments', 'suffix'],
    ] as const) {
      const pack = await ask('', { anchors: [input], strategy: 'graph' })
      const [resolved] = pack.stats.resolved
      assert.deepEqual([resolved?.matched_by, resolved?.keys], [how, ['service:payments']])
      assert.deepEqual(
        sectionOf(pack, 'related_entities').map(({ id }) => id),
        ['node:service:payments', 'node:team:gold', 'node:person:ann'],
      )
      assert.match(sectionOf(pack, 'relevant_facts')[0]?.text ?? '', /OWNED_BY→ team:gold/)
    }
  })

  it('marks facts that contradict each other and keeps both', async () => {
    const { tell, ask } = recalling(db)
    const since = { valid_from: '2026-01-01' }
    await tell(
      { content: 'a', assertions: [fact('api:x', 'LIMIT', 'rate:100', since)] },
      { content: 'b', assertions: [fact('api:x', 'LIMIT', 'rate:110', since)] },
    )
    const pack = await ask('', { anchors: ['api:x'], strategy: 'graph' })
    const facts = sectionOf(pack, 'relevant_facts')
    assert.equal(facts.length, 2)
    assert.deepEqual(
      facts.map(({ conflict }) => conflict),
      [true, true],
    )
    assert.deepEqual(pack.conflicts.toSorted(), facts.map(({ id }) => id).toSorted())
  })

  it('answers a semantic question by words and says so', async () => {
    const { tell, ask } = recalling(db)
    await tell({ content: 'Herons nest by the river' })
    const pack = await ask('heron nests', { strategy: 'semantic' })
    assert.deepEqual(textsOf(pack), ['Herons nest by the river'])
    assert.deepEqual(pack.warnings, ['semantic search is not trained yet'])
  })
})

describe('the title of a part of a document', () => {
  it('says where the part stands, and nothing twice', async () => {
    const { tell, ask } = recalling(db)
    const said = [
      { title: 'Runbook', content: '# Runbook\n\n## Failover\n\nStop the worker first.' },
      { title: 'Payments', content: '# Notes\n\nRestart the worker last.' },
      { title: 'Run', content: '# Runner\n\nFeed the worker.' },
      { title: 'Plain', content: 'Ask the worker.' },
    ]
    await tell({
      content: 'Four pages',
      assertions: said.map((text) => ({ assert: 'text', text: { type: 'document', ...text } })),
    })
    const titles = sectionOf(await ask('worker'), 'documents').map(({ title }) => title)
    const expected = ['Payments — Notes', 'Plain', 'Run — Runner', 'Runbook > Failover']
    assert.deepEqual(new Set(titles), new Set(expected))
    assert.equal(titles.length, expected.length)
  })
})
