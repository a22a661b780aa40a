import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { METRICS } from './metric-table.ts'
import { createMetrics } from './metrics.ts'

const ROWS = Object.values(METRICS)
const NAMES = ROWS.map(({ name }) => name as string)

describe('the table of metrics', () => {
  it('names what is exported, and nothing else is exported', async () => {
    const { registry } = createMetrics()
    const exported = (await registry.metrics()).matchAll(/^# TYPE (\S+) (\S+)$/gm)
    assert.deepEqual(
      [...exported].map(([, name, type]) => `${name} ${type}`).toSorted(),
      ROWS.map(({ name, type }) => `${name} ${type}`).toSorted(),
    )
  })

  it('follows the naming of Prometheus', () => {
    for (const { name, type } of ROWS) {
      assert.match(name, /^[a-z][a-z0-9_]*[a-z]$/)
      assert.equal(name.endsWith('_total'), type === 'counter', name)
      if (type === 'histogram') assert.match(name, /_(seconds|bytes)$/)
    }
    assert.equal(new Set(NAMES).size, NAMES.length)
  })

  it('has no label that could hold an id', () => {
    for (const { name, labels } of ROWS) {
      assert.deepEqual(
        labels.filter((label) => /(^|_)(id|tenant|principal|path|key|user)$/.test(label)),
        [],
        name,
      )
    }
  })

  it('gives each a meaning in both languages and an alert about metrics that exist', () => {
    for (const { name, en, ru, alert } of ROWS) {
      assert.match(en, /[a-z]{3}/, name)
      assert.match(ru, /[а-яё]{3}/, name)
      // What is in quotes or between `by (` and `)` is a label or a value; what stands before `(` a function.
      const expression = alert.replaceAll(/"[^"]*"/g, '').replaceAll(/\bby \([^)]*\)/g, '')
      const used = [...expression.matchAll(/\b([a-z]+(?:_[a-z]+)+)\b(?! ?\()/g)].map(
        ([, one = '']) => one.replace(/_(count|sum|bucket)$/, ''),
      )
      assert.ok(
        used.includes(name.replace(/_(count|sum|bucket)$/, '')),
        `the alert of ${name} is about something else: ${alert}`,
      )
      assert.deepEqual(
        used.filter((one) => !NAMES.includes(one)),
        [],
        alert,
      )
      assert.equal(alert.split('(').length, alert.split(')').length, alert)
    }
  })
})
