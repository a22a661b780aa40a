import { randomUUID } from 'node:crypto'
import { call, TransportError } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { claimTask, releaseClaim } from '#contract/claims.ts'
import { recordObservation } from '#contract/observations.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { AppError } from '#lib/errors.ts'

/** What was told to its writer, so that it may never be lost. */
export interface Acknowledged {
  observations: { id: string; content: string }[]
  claims: { id: string; fencingToken: number }[]
  /** Ids of claims. */
  releases: string[]
}

/** Writes whose answer never came: each may have happened or not. */
export type Unanswered = { content: string; idempotencyKey: string }[]

export interface Writing {
  acknowledged: Acknowledged
  /** Ends when nobody answers any more; answers what was left open. */
  cut: Promise<Unanswered>
}

const OBSERVERS = 4
const CLAIMERS = 2

/** Writes from several writers at once, as fast as they are answered, until the server is gone. */
export function writeUntilCut(client: ClientOptions): Writing {
  const acknowledged: Acknowledged = { observations: [], claims: [], releases: [] }
  const unanswered: Unanswered = []
  const writers = [
    ...Array.from({ length: OBSERVERS }, () => observe(client, acknowledged, unanswered)),
    ...Array.from({ length: CLAIMERS }, () => claim(client, acknowledged)),
  ]
  return { acknowledged, cut: Promise.all(writers).then(() => unanswered) }
}

/** How many writes were acknowledged. */
export function countOf({ observations, claims, releases }: Acknowledged): number {
  return observations.length + claims.length + releases.length
}

async function observe(
  client: ClientOptions,
  { observations }: Acknowledged,
  unanswered: Unanswered,
): Promise<void> {
  for (;;) {
    const idempotencyKey = randomUUID()
    const content = `Seen in the storm: ${randomUUID()}`
    const reply = await answered(client, recordObservation, {
      idempotencyKey,
      body: { kind: 'finding', content },
    })
    if (!reply) {
      unanswered.push({ content, idempotencyKey })
      return
    }
    observations.push({ id: reply.id, content })
  }
}

async function claim(client: ClientOptions, { claims, releases }: Acknowledged): Promise<void> {
  const session = await answered(client, openSession, { body: { clientName: 'storm' } })
  const task = await answered(client, createTask, { body: { title: 'Hold the mast' } })
  if (!session || !task) return
  for (;;) {
    const taken = await answered(client, claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    if (!taken) return
    const { id, fencingToken } = taken
    claims.push({ id, fencingToken })
    if (!(await answered(client, releaseClaim, { params: { id }, body: { fencingToken } }))) return
    releases.push(id)
  }
}

/** The answer, or undefined when none came or the database was gone; any other refusal is thrown. */
async function answered<R extends Route>(
  client: ClientOptions,
  route: R,
  input: CallInput<R>,
): Promise<RouteReply<R> | undefined> {
  try {
    return await call(client, route, input)
  } catch (error) {
    const isGone = error instanceof AppError && error.code === 'not_ready'
    if (isGone || error instanceof TransportError) return undefined
    throw error
  }
}
