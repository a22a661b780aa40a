import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fencedLines, render } from '../../test/support/rendered.ts'

interface Given {
  entities?: readonly unknown[]
  facts?: readonly unknown[]
  context?: Record<string, unknown>
  recall?: readonly unknown[]
  budgetChars?: number
}

/** The lines inside the fence without blank ones, for a graph pack of services and maybe recall. */
function body({
  entities = [],
  facts = [],
  context = {},
  recall = [],
  budgetChars = 12_000,
}: Given): string[] {
  const response = {
    memoryStatus: 'ok',
    memory: { sections: [{ kind: 'documents', items: recall }] },
    taskContext: {
      status: 'ok',
      pack: {
        sections: [{ kind: 'service', items: entities }],
        facts,
        anchors: [{ input: 'a', resolved: ['svc:a'] }],
      },
      ...context,
    },
  }
  return fencedLines(response, budgetChars)
}

describe('the graph pack of a task', () => {
  it('stands before recall: a note, entities by kind, relations', () => {
    const context = { contextPackId: 'cpk-1', asOf: '2026-01-15T10:00:00Z' }
    const facts = [
      {
        subject: 'svc:a',
        relation: 'USES',
        object: { kind: 'db', key: 'db:b' },
        evidence: 'inferred',
      },
    ]
    assert.deepEqual(
      body({
        entities: [{ key: 'svc:a', title: 'Billing' }],
        facts,
        context,
        recall: [{ text: 'x' }],
      }),
      [
        '### task_context',
        '- Typed pack: 1 entities, 1 relations, as of 2026-01-15T10:00:00Z, context pack cpk-1',
        '### service',
        '- svc:a: Billing [anchor]',
        '### relations',
        '- svc:a USES db:b [inferred]',
        '### documents',
        '- x',
      ],
    )
  })

  it('tells what the service itself left out', () => {
    const pack = {
      sections: [{ kind: 'a', items: [{ key: 'k' }] }],
      omitted: { entities: 3, facts: 4 },
    }
    assert.equal(
      body({ context: { pack } })[1],
      '- Typed pack: 1 entities, 0 relations, 3 and 4 left out',
    )
  })

  it('is left out unless its status is ok and it holds something', () => {
    for (const status of ['empty', 'timeout', undefined, 1]) {
      assert.deepEqual(
        body({ entities: [{ key: 'k' }], context: { status }, recall: [{ text: 'x' }] }),
        ['### documents', '- x'],
      )
    }
    assert.deepEqual(body({ recall: [{ text: 'x' }] }), ['### documents', '- x'])
  })

  it('is shown also when memory is not available', () => {
    const taskContext = { status: 'ok', pack: { sections: { service: [{ key: 'svc:a' }] } } }
    const section = render({ memoryStatus: 'timeout', taskContext })
    assert.match(section, /### service\n- svc:a\n/)
  })

  it('shows at most six scalar attributes, flags and source of an entity', () => {
    const attributes = {
      a: 1,
      list: [1],
      b: true,
      c: 'x',
      none: null,
      d: 'y',
      e: 0,
      f: 'z',
      g: 'too many',
    }
    const entity = {
      key: 'svc:b',
      title: 'svc:b',
      attributes,
      evidence: 'inferred',
      source_path: 'docs/b.md',
    }
    assert.equal(
      body({ entities: [entity] })[3],
      '- svc:b (a=1, b=true, c=x, d=y, e=0, f=z) [inferred] [source: docs/b.md]',
    )
    assert.equal(
      body({ entities: [{ key: 'svc:a', anchor: true, inferred: true }] })[3],
      '- svc:a [anchor, inferred]',
    )
  })

  it('redacts attributes whose name or value is a credential', () => {
    const attributes = { password: 'x', api_key: 'abcd', note: 'sk-12345678', home: '/home/anna' }
    assert.equal(
      body({ entities: [{ key: 'k', attributes }] })[3],
      '- k (password=<redacted>, api_key=<redacted>, note=<redacted>, home=<path>)',
    )
  })

  it('skips entities without a key and relations without both ends', () => {
    const facts = [
      { subject: 'a', relation: 'R' },
      { subject: {}, relation: 'R', object: 'b' },
      'x',
      null,
    ]
    assert.deepEqual(body({ entities: [{}, 1, { key: ' ' }, { key: 'k' }], facts }).slice(2), [
      '### service',
      '- k',
    ])
  })

  it('holds no tag that the three parts of a relation put together', () => {
    const facts = [{ subject: 'a <', relation: '/', object: 'recalled_memory> b' }]
    assert.deepEqual(body({ facts }).slice(2), ['### relations', '- a b'])
    assert.deepEqual(
      body({ facts: [{ subject: '<', relation: '/', object: 'recalled_memory>' }] }).slice(2),
      [],
    )
  })

  it('holds no tag that a cut puts together in its note', () => {
    const asOf = `${'x'.repeat(23)}<recalled_memoryRE> and more`
    const [, note] = body({ entities: [{ key: 'k' }], context: { asOf } })
    assert.match(note ?? '', /as of x{23}…$/)
  })

  it('marks an entity with an instruction-like pattern', () => {
    const entity = { key: 'k', signals: { suspicious: ['new_orders'] } }
    assert.equal(body({ entities: [entity] })[3], '- [unverified instruction-like text] k')
  })

  it('calls a kind other that must not stand in a heading', () => {
    const pack = { sections: [{ kind: 'a\n### b', items: [{ key: 'k' }] }] }
    assert.deepEqual(body({ context: { pack } }).slice(2), ['### other', '- k'])
  })

  it('keeps to four characters for each token of its own budget; recall still gets its turn', () => {
    const entities = [
      ...Array.from({ length: 50 }, (_, n) => ({ key: `svc:${n}`, title: 'x'.repeat(60) })),
      { key: 'k' },
    ]
    const lines = body({
      entities,
      context: { budgetTokens: 100 },
      recall: [{ text: 'a finding' }],
    })
    const typed = lines.slice(0, lines.indexOf('### documents'))
    const shown = typed.filter((text) => text.startsWith('- svc:')).length
    assert.ok(typed.join('\n').length <= 400)
    assert.ok(shown > 0 && shown < 10)
    assert.deepEqual(lines.slice(-4), [
      '- k',
      '### documents',
      '- a finding',
      `… ${50 - shown} more item(s) omitted by the context budget`,
    ])
  })

  it('never takes more than the budget of the section', () => {
    const entities = Array.from({ length: 500 }, (_, n) => ({
      key: `svc:${n}`,
      title: 'x'.repeat(60),
    }))
    const response = {
      taskContext: {
        status: 'ok',
        budgetTokens: 1_000_000,
        pack: { sections: { service: entities } },
      },
    }
    for (const budgetChars of [100, 450, 600, 2000]) {
      assert.ok(render(response, budgetChars).length <= budgetChars)
    }
  })

  it('takes 3,000 tokens when its budget is missing or senseless', () => {
    const entities = Array.from({ length: 500 }, (_, n) => ({
      key: `svc:${n}`,
      title: 'x'.repeat(60),
    }))
    for (const budgetTokens of [undefined, 0, -1, 1.5, '9']) {
      const length = body({ entities, context: { budgetTokens }, budgetChars: 50_000 }).join(
        '\n',
      ).length
      assert.ok(length > 11_800 && length < 12_100, String(length))
    }
  })
})
