import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from './log.ts'
import { prettyLog } from './pretty-log.ts'

const NOON = new Date(2026, 0, 1, 12, 0, 0)
const now = () => NOON

function json(level?: Parameters<typeof jsonLog>[2]) {
  const lines: string[] = []
  return { lines, log: jsonLog((line) => void lines.push(line), now, level) }
}

function pretty(colors = false) {
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  return { lines, log: prettyLog(write, { now, least: 'info', colors }) }
}

describe('the log', () => {
  it('drops what is less severe than its level', () => {
    for (const [level, count] of [
      ['debug', 4],
      ['info', 3],
      ['warn', 2],
      ['error', 1],
    ] as const) {
      const { lines, log } = json(level)
      log.debug('d')
      log.info('i')
      log.warn('w')
      log.error('e', new Error('x'))
      assert.equal(lines.length, count, level)
    }
  })

  it('is one line for one message, whatever stands in the fields', () => {
    const { lines, log } = json()
    log.with({ role: 'api' }).info('Said', { text: 'a\nb\u0000\ud800' })
    assert.equal(lines.length, 1)
    assert.deepEqual(lines[0]?.split('\n').slice(1), [''])
    const { time, ...rest } = JSON.parse(lines[0] ?? '') as Record<string, unknown>
    assert.equal(time, NOON.toISOString())
    assert.deepEqual(rest, { level: 'info', msg: 'Said', role: 'api', text: 'a\nb\u0000\ud800' })
  })

  it('tells an error with its causes, without credentials and without values that were sent', () => {
    const { lines, log } = json()
    const broken = Object.assign(new Error('invalid input syntax for type uuid: "hunter3"'), {
      code: '22P02',
    })
    const cause = new Error('postgres://me:hunter4@db/x refused')
    log.error('Failed', new AggregateError([broken, cause], 'Several'))
    try {
      JSON.parse('{"password": hunter2}')
    } catch (error) {
      log.error('Failed', new Error('outer', { cause: error }))
    }
    log.error('Failed', 'hunter5')
    assert.doesNotMatch(lines.join(''), /hunter/)
    assert.match(lines[0] ?? '', /Several.*caused by Error: .*\[22P02\].*caused by.*<redacted>/)
    assert.match(lines[1] ?? '', /Error: outer.*caused by SyntaxError/)
  })

  it('is made for reading on a terminal, where nothing in it moves the cursor', () => {
    const { lines, log } = pretty()
    log.info('Request', { status: 200, tenantId: 'hidden', route: '/x', odd: 'a b\u001b[2J\u202e' })
    log.error('Failed', new Error('why'))
    assert.equal(lines[0], '12:00:00 info  Request status=200 route=/x odd="a b[2J"\n')
    assert.match(lines[1] ?? '', /^12:00:00 error Failed\n {2}Error: why\n {6}at /)
    const coloured = pretty(true)
    coloured.log.warn('Careful')
    assert.ok(coloured.lines[0]?.includes('\u001b[33mwarn'))
  })
})
