import type { EventData } from 'node:test'
import { Readable } from 'node:stream'
import { spec } from 'node:test/reporters'
import type { TestEvent } from 'node:test/reporters'

/**
 * Node's own report, then one closing line `N passed, N failed` alone on a line for scripts to read. A run
 * without a single test has failed: it means that a name or a path was wrong.
 */
// oxlint-disable-next-line import/no-default-export -- node:test takes a reporter as a default export
export default async function* report(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  async function* counted() {
    for await (const event of source) {
      count(event, counts)
      yield event
    }
  }
  for await (const text of Readable.from(counted()).compose(new spec())) yield String(text)
  if (counts.passed + counts.failed === 0) process.exitCode = 1
  const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`
  yield `\n${counts.passed} passed, ${counts.failed} failed${skipped}\n`
}

interface Counts {
  passed: number
  failed: number
  skipped: number
}

function count(event: TestEvent, counts: Counts): void {
  if (event.type !== 'test:pass' && event.type !== 'test:fail') return
  const { data } = event
  // A suite with a failed test says nothing new; one whose hook failed does.
  if (data.details.type === 'suite' && (event.type === 'test:pass' || repeats(event.data))) return
  if (event.type === 'test:fail' && data.todo === undefined) counts.failed++
  else if (data.skip !== undefined || data.todo !== undefined) counts.skipped++
  // A file in which nothing ran is reported as a test that passed.
  else if (data.name !== data.file && !data.name.endsWith('.test.ts')) counts.passed++
}

function repeats(failure: EventData.TestFail): boolean {
  const error: object = failure.details.error
  return 'failureType' in error && error.failureType === 'subtestsFailed'
}
