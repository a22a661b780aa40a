import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '#lib/log.ts'
import { createMetrics } from './metrics.ts'
import { watchJob } from './watch-job.ts'

function watching() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const log = jsonLog(write, () => new Date())
  const metrics = createMetrics()
  const samples = async () => (await metrics.registry.metrics()).split('\n')
  return { lines, watch: { log, metrics }, samples }
}

describe('a round of a job', () => {
  it('that did something is a line that says what, and one that did nothing is none', async () => {
    const { lines, watch } = watching()
    await watchJob(watch, 'leases', () => Promise.resolve({ claims: 2, sessions: 0 }))
    await watchJob(watch, 'leases', () => Promise.resolve({ claims: 0, sessions: 0 }))
    await watchJob(watch, 'leases', () => Promise.resolve())
    assert.equal(lines.length, 1)
    const { msg, job, claims, sessions } = lines[0] ?? {}
    assert.deepEqual([msg, job, claims, sessions], ['Job done', 'leases', 2, 0])
  })

  it('that fails is logged and counted, and stops nothing', async () => {
    const { lines, watch, samples } = watching()
    await watchJob(watch, 'leases', () => Promise.reject(new Error('no database')))
    await watchJob(watch, 'leases', () => Promise.resolve())
    const [{ level, msg, error } = {}] = lines
    assert.deepEqual([level, msg], ['error', 'Job failed'])
    assert.match(String(error), /no database/)
    const text = await samples()
    assert.ok(text.includes('job_runs_total{job="leases",outcome="failed"} 1'))
    assert.ok(text.includes('job_runs_total{job="leases",outcome="ok"} 1'))
    assert.ok(text.includes('job_duration_seconds_count{job="leases"} 2'))
    assert.ok(text.some((line) => /^job_last_success_timestamp_seconds.* \d{10}/.test(line)))
  })
})
