import assert from 'node:assert/strict'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { eventsOf } from '../support/leases.ts'
import { activeClaim, isLive } from './model.ts'
import type { Story } from './story.ts'

/** Fails unless the database holds what the model holds, and the journal tells it in order. */
export async function compare(db: Database, ctx: Ctx, story: Story): Promise<void> {
  assert.deepEqual(await heldBy(db, ctx), heldIn(story))
  await checkJournal(db, ctx, story)
}

type Held = Record<keyof Story['ids'], Record<string, unknown>>

function heldIn({ world, ids }: Story): Held {
  return {
    sessions: by(world.sessions, ids.sessions, ({ status }) => status),
    tasks: by(world.tasks, ids.tasks, (task) => {
      const claim = activeClaim(world, task)
      const holder = claim && isLive(claim) ? (ids.claims[world.claims.indexOf(claim)] ?? '') : null
      return [task.status, task.version, task.revision, task.lastToken, holder]
    }),
    claims: by(world.claims, ids.claims, (claim) => [claim.status, claim.token]),
    runs: by(world.runs, ids.runs, (run) => [run.status, run.reason, run.attempt]),
    approvals: by(world.approvals, ids.approvals, ({ status, revision }) => [status, revision]),
  }
}

async function heldBy(db: Database, { tenantId }: Ctx): Promise<Held> {
  const sessions = await db<{ id: string; status: string }[]>`
    select id, status
    from sessions
    where tenant_id = ${tenantId}`
  const tasks = await db<{ id: string; state: unknown }[]>`
    select t.id, jsonb_build_array(t.status, t.version, t.revision, t.last_fencing_token, (
             select c.id
             from claims c
             join sessions s on s.tenant_id = c.tenant_id and s.id = c.session_id
             where c.tenant_id = t.tenant_id
               and c.task_id = t.id
               and c.status = 'active'
               and c.expires_at > clock_timestamp()
               and s.status = 'active'
               and s.expires_at > clock_timestamp())) as state
    from tasks t
    where t.tenant_id = ${tenantId}`
  const claims = await db<{ id: string; state: unknown }[]>`
    select id, jsonb_build_array(status, fencing_token) as state
    from claims
    where tenant_id = ${tenantId}`
  const runs = await db<{ id: string; state: unknown }[]>`
    select id, jsonb_build_array(status, reason, attempt) as state
    from runs
    where tenant_id = ${tenantId}`
  const approvals = await db<{ id: string; state: unknown }[]>`
    select id, jsonb_build_array(status, task_revision) as state
    from approvals
    where tenant_id = ${tenantId}`
  return {
    sessions: Object.fromEntries(sessions.map(({ id, status }) => [id, status])),
    tasks: states(tasks),
    claims: states(claims),
    runs: states(runs),
    approvals: states(approvals),
  }
}

function by<T>(things: readonly T[], names: readonly string[], state: (thing: T) => unknown) {
  return Object.fromEntries(things.map((thing, at) => [names[at] ?? '', state(thing)]))
}

function states(rows: readonly { id: string; state: unknown }[]) {
  return Object.fromEntries(rows.map(({ id, state }) => [id, state]))
}

/** The versions of a thing stand in order; of a task, every single one. */
async function checkJournal(db: Database, ctx: Ctx, { world, ids }: Story): Promise<void> {
  const versions = new Map<string, number[]>()
  for (const { entityId, entityVersion } of await eventsOf(db, ctx)) {
    versions.set(entityId, [...(versions.get(entityId) ?? []), entityVersion])
  }
  for (const [id, seen] of versions) {
    const sorted = seen.toSorted((a, b) => a - b)
    assert.deepEqual(seen, sorted, `the events of ${id} are out of order`)
    assert.equal(new Set(seen).size, seen.length, `a version of ${id} is there twice`)
  }
  for (const [at, task] of world.tasks.entries()) {
    const seen = versions.get(ids.tasks[at] ?? '') ?? []
    assert.deepEqual(
      seen,
      Array.from({ length: task.version }, (_, index) => index + 1),
    )
  }
}
