import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fillTemplate, hasTouchingPlaces, matchTemplate, parseTemplate } from './template.ts'
import { compareVersions } from './version.ts'

const match = (template: string, text: string) => {
  const values = matchTemplate(parseTemplate(template), text)
  return values && Object.fromEntries(values)
}

describe('a template', () => {
  it('finds the values of a text, which are repeated where their name is', () => {
    for (const [template, text, expected] of [
      [
        'file:<repo owner/name>:<path>',
        'file:acme/app:src/a.ts',
        { repo: 'acme/app', path: 'src/a.ts' },
      ],
      ['file:{repo}:{path}', 'file:a:b:c', { repo: 'a', path: 'b:c' }],
      ['<a>-<b>-<a>', 'x-y-y-x-y', { a: 'x-y', b: 'y' }],
      ['<a>-<b>-<a>', 'x-y-z', undefined],
      ['<a>', '', undefined],
      ['a:<b>', 'a:', undefined],
      ['a:<b>', 'A:b', undefined],
      ['<a>.md', 'x.md.md', { a: 'x.md' }],
      ['one', 'one', {}],
      ['one', 'ones', undefined],
      ['a < b {1}', 'a < b {1}', {}],
    ] as const) {
      assert.deepEqual(match(template, text), expected, `${template} ${text}`)
    }
  })

  it('gives up a hopeless text soon', () => {
    const places = Array.from({ length: 40 }, (_, n) => `<p${n}>a`).join('')
    const start = process.cpuUsage()
    assert.equal(match(`${places}<p0><p1>!`, 'a'.repeat(500)), undefined)
    assert.ok(process.cpuUsage(start).user < 2_000_000)
  })

  it('is filled, or tells what it lacks', () => {
    const template = parseTemplate('<a>/{b}')
    assert.deepEqual(
      fillTemplate(template, (name) => name.toUpperCase()),
      { ok: true, text: 'A/B' },
    )
    assert.deepEqual(
      fillTemplate(template, (name) => (name === 'a' ? '1' : undefined)),
      { ok: false, missing: 'b' },
    )
    assert.deepEqual(
      [hasTouchingPlaces(template), hasTouchingPlaces(parseTemplate('<a>{b}'))],
      [false, true],
    )
  })
})

describe('versions', () => {
  it('are ordered by their numbers, and what comes before a release before it', () => {
    const ordered = [
      '0.9',
      '1',
      '1.0-alpha',
      '1.0-beta.2',
      '1.0-beta.11',
      '1.0',
      '1.0.1',
      '1.9',
      '1.10',
      '10',
    ]
    assert.deepEqual(ordered.toReversed().toSorted(compareVersions), ordered)
    assert.equal(compareVersions('1.0', '1.0'), 0)
  })
})
