import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { otlpReceiver, valuesOf } from '../../test/support/otlp-receiver.ts'
import type { ReceivedMetric } from '../../test/support/otlp-receiver.ts'
import { waitFor } from '../../test/support/wait.ts'
import { createMetricExport } from './otel-metrics.ts'

/** A registry with one metric of each kind. */
function filled(): Registry {
  const registry = new Registry()
  const registers = [registry]
  const done = new Counter({ name: 'done_total', help: 'Done', labelNames: ['how'], registers })
  done.inc({ how: 'well' }, 3)
  new Gauge({ name: 'open_bytes', help: 'Open', registers }).set(7)
  const took = new Histogram({
    name: 'took_seconds',
    help: 'Took',
    labelNames: ['route'],
    buckets: [0.1, 1],
    registers,
  })
  for (const [route, seconds] of [
    ['a', 0.05],
    ['a', 0.5],
    ['a', 5],
    ['b', 0.5],
  ] as const) {
    took.observe({ route }, seconds)
  }
  return registry
}

/** The points of a metric; histograms with bounds, counts between them, number and sum. */
function shownOf({ sum, gauge, histogram }: Partial<ReceivedMetric>) {
  const { dataPoints = [], isMonotonic } = sum ?? gauge ?? histogram ?? {}
  const points = dataPoints.map((one) => [
    valuesOf(one.attributes),
    ...(one.bucketCounts
      ? [one.explicitBounds, one.bucketCounts, one.count, one.sum]
      : [one.asDouble]),
  ])
  return isMonotonic === undefined ? { points } : { isMonotonic, points }
}

describe('metrics for a collector', () => {
  it('come in its own model, every interval and once more at the end', async (t) => {
    const receiver = await otlpReceiver(t)
    const registry = filled()
    const problems: string[] = []
    const metricExport = createMetricExport({
      url: `${receiver.url}/v1/metrics`,
      serviceName: 'strata-test',
      version: '0.0.0',
      intervalMs: 20,
      read: async () => await registry.getMetricsAsJSON(),
      onProblem: (message) => problems.push(message),
    })
    await waitFor(() => receiver.metrics().length > 0)
    assert.deepEqual(
      receiver.metrics().map(({ service, name, description, unit, ...data }) => ({
        who: `${service} ${name} ${description} ${unit}`,
        ...shownOf(data),
      })),
      [
        {
          who: 'strata-test done_total Done ',
          isMonotonic: true,
          points: [[{ how: 'well' }, 3]],
        },
        { who: 'strata-test open_bytes Open By', points: [[{}, 7]] },
        {
          who: 'strata-test took_seconds Took s',
          points: [
            [{ route: 'a' }, [0.1, 1], [1, 1, 1], 3, 5.55],
            [{ route: 'b' }, [0.1, 1], [0, 1, 0], 1, 0.5],
          ],
        },
      ],
    )

    const late = new Counter({ name: 'late_total', help: 'Late', registers: [registry] })
    late.inc()
    await metricExport[Symbol.asyncDispose]()
    const sent = receiver.metrics().find(({ name }) => name === 'late_total')
    assert.deepEqual(sent && shownOf(sent).points, [[{}, 1]])
    assert.deepEqual(problems, [])
  })

  it('that cannot be sent are told, and hinder nothing', async () => {
    const problems: string[] = []
    const metricExport = createMetricExport({
      url: 'http://127.0.0.1:9/v1/metrics',
      serviceName: 'strata-test',
      version: '0.0.0',
      intervalMs: 3_600_000,
      read: () => Promise.reject(new Error('nothing to read')),
      onProblem: (message) => problems.push(message),
    })
    await metricExport[Symbol.asyncDispose]()
    assert.deepEqual(problems, ['nothing to read'])
  })
})
