import type { Log } from '#lib/log.ts'
import { createReading } from '#lib/reading.ts'
import type { ReadingLimits } from '#lib/reading.ts'

/** What one check found. A problem keeps this process from serving; facts are for whoever looks. */
export interface Finding {
  status: string
  problem?: string
  facts?: Readonly<Record<string, string | number | boolean | null>>
}

/** Checks by name. What one says is for everybody: no address, no credential. */
export interface Checks {
  /** A problem of these, or no answer, means not ready. */
  vital: Readonly<Record<string, () => Promise<Finding>>>
  /** These only inform: requests are served without what they look at. */
  informing?: Readonly<Record<string, () => Promise<Finding>>>
}

export interface Health {
  isReady: boolean
  problems: string[]
  checks: Record<string, Record<string, unknown>>
}

/**
 * A load balancer asks often and from several places; the database is asked once a second at most. The patience
 * is below the usual limit of a probe, so that it gets a reason instead of giving up.
 */
const LIMITS: ReadingLimits = { freshSeconds: 1, patienceSeconds: 2 }

/**
 * Whether requests can be served right now, within two seconds whatever happens. All checks run at once; a
 * vital one that fails or does not end is a problem with its name. A change is logged.
 */
export function createHealth(
  { vital, informing = {} }: Checks,
  log: Log,
  limits: ReadingLimits = LIMITS,
): () => Promise<Health> {
  const readings = [
    ...Object.entries(vital).map(([name, check]) => ({ name, check, isVital: true })),
    ...Object.entries(informing).map(([name, check]) => ({ name, check, isVital: false })),
  ].map((one) => ({ ...one, ask: createReading(one.check, limits) }))
  let wasReady = true
  return async () => {
    const found = await Promise.all(
      readings.map(async ({ name, isVital, ask }) => {
        const reading = await ask()
        const finding = reading.kind === 'read' ? reading.value : noAnswer(name)
        return { name, isVital, finding }
      }),
    )
    const problems = found.flatMap(({ isVital, finding: { problem } }) =>
      isVital && problem !== undefined ? [problem] : [],
    )
    const isReady = problems.length === 0
    if (isReady !== wasReady) {
      if (isReady) log.info('Ready again')
      else log.warn('Not ready', { problems })
      wasReady = isReady
    }
    const checks = Object.fromEntries(
      found.map(({ name, finding: { status, facts } }) => [name, { status, ...facts }]),
    )
    return { isReady, problems, checks }
  }
}

/** Says nothing of the error: it may name an address. */
function noAnswer(name: string): Finding {
  return { status: 'failed', problem: `the ${name} does not answer` }
}
