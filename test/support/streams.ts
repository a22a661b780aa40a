import { Heads } from '#events/heads.ts'
import { createMetrics } from '#observe/metrics.ts'
import { streamMeter } from '../../src/meters.ts'
import { createPlaces } from '#http/places.ts'
import type { JournalOptions } from '#journal/routes.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'

/** Streams of an application in this process: without an address they hear nothing and only poll. */
export function testStreams(
  db: Database,
  changes: Partial<JournalOptions['streams']> & {
    address?: DatabaseAddress
    pollSeconds?: number
  } = {},
): JournalOptions['streams'] {
  const { address, pollSeconds = 0.05, ...options } = changes
  return {
    heads: new Heads({
      db,
      ...(address && { address }),
      pollSeconds,
      onError: (error) => process.stderr.write(`${String(error)}\n`),
    }),
    stopping: new AbortController().signal,
    beatSeconds: 10,
    stallSeconds: 30,
    meter: streamMeter(createMetrics()),
    places: createPlaces({ each: 50, all: 100 }),
    ...options,
  }
}
