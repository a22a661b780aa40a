import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMetrics } from '#observe/metrics.ts'
import { memoryMeter } from '../meters.ts'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { decision, external, testMemory } from '../../test/support/memory.ts'

const db = await sharedMemoryDb()

describe('how much memory holds', () => {
  it('is counted over all namespaces', async () => {
    const memory = testMemory(db)
    const scope = { namespace: memory.namespace }
    const { body: before } = await memory.get('/api/brain/stats')
    await memory.post('/api/memory/observations', { ...decision(), scope })
    await memory.post('/api/brain/documents', { natural_key: 'doc:a', content: 'a', scope })
    const { status, body: after } = await memory.get('/api/brain/stats')
    assert.equal(status, 200)
    assert.ok(after.namespaces > before.namespaces)
    assert.ok(after.items.observations > before.items.observations)
    assert.ok(after.items.chunks > before.items.chunks)
    assert.ok(after.largest.length > 0 && after.largest.length <= 50)
  })
})

describe('what comes into memory', () => {
  it('is counted by what became of it', async () => {
    const metrics = createMetrics()
    const meter = memoryMeter(metrics)
    const memory = testMemory(db, {}, { meter })
    const scope = { namespace: memory.namespace }
    const observations = [
      decision(external(1)),
      decision(external(1)),
      decision({ ...external(2), kind: 'Not a kind' }),
      decision({ ...external(3), assertions: [{ assert: 'nothing' }] }),
    ]
    await memory.post('/api/memory/observations:batch', { observations, scope })
    const document = { natural_key: 'doc:a', content: 'a', scope }
    for (let times = 0; times < 2; times += 1) await memory.post('/api/brain/documents', document)
    const text = await metrics.registry.metrics()
    for (const line of [
      'memory_observations_total{outcome="accepted"} 2',
      'memory_observations_total{outcome="duplicate"} 1',
      'memory_observations_total{outcome="refused"} 1',
      'memory_observations_unusable_total 1',
      'memory_stored_total{kind="document",outcome="changed"} 1',
      'memory_stored_total{kind="document",outcome="unchanged"} 1',
    ]) {
      assert.ok(text.includes(line), line)
    }
  })
})

describe('an answer of memory', () => {
  it('says how long it took where that is wished', async () => {
    assert.match((await timing(true)) ?? '', /^app;dur=\d+\.\d\d$/)
    assert.equal(await timing(false), null)
  })
})

async function timing(serverTiming: boolean): Promise<string | null> {
  const { fetch } = testMemory(db, { serverTiming })
  return (await fetch('http://memory.test/healthz')).headers.get('server-timing')
}
