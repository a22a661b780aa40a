import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { transaction } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow, eventsOf, newSession, newTask } from '../../test/support/leases.ts'
import type { EventRow } from '../../test/support/leases.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { completeTask } from './complete-task.ts'
import { releaseClaim } from './release-claim.ts'
import { selectTask } from './task.sql.ts'
import { updateTask } from './update-task.ts'

const db = await sharedDb()

function versionsOf(events: EventRow[], entityId: string): number[] {
  return events.filter((event) => event.entityId === entityId).map((event) => event.entityVersion)
}

async function retitle(ctx: Ctx, ref: string, title: string): Promise<void> {
  const { version } = (await selectTask(db, ctx, ref)) ?? { version: 0 }
  await transaction(db, 'read write', (sql) =>
    updateTask(sql, ctx, { ref, expectedVersion: version, title }),
  )
}

/** Repeats a command that is refused for what another did meanwhile; a fault is thrown on. */
async function untilAccepted(command: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await command()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
    }
  }
}

describe('the events of one entity', () => {
  it('stand in the order of its versions although a writer waited for another', async () => {
    const { ctx } = await testTenant(db)
    const task = await newTask(db, ctx)
    const sessionId = await newSession(db, ctx)
    let waiting: Promise<unknown> = Promise.resolve()

    await transaction(db, 'read write', async (sql) => {
      await lockEntities(sql, ctx, [{ type: 'task', id: task.id }])
      waiting = claimNow(db, ctx, { ref: task.id, sessionId })
      await waitForWaiters(db, sql, 1)
      await updateTask(sql, ctx, { ref: task.id, expectedVersion: 1, title: 'first' })
    })
    await waiting

    const events = (await eventsOf(db, ctx)).filter((event) => event.entityId === task.id)
    assert.deepEqual(
      events.map(({ type, entityVersion }) => [type, entityVersion]),
      [
        ['task.created', 1],
        ['task.updated', 2],
        ['task.claimed', 3],
      ],
    )
  })

  it('have every version once and in order after a storm of writers', async () => {
    const { ctx } = await testTenant(db)
    const task = await newTask(db, ctx)
    const sessions = await Promise.all(Array.from({ length: 6 }, () => newSession(db, ctx)))
    const claimAndRelease = async (sessionId: string) => {
      const { id, fencingToken } = await claimNow(db, ctx, { ref: task.id, sessionId })
      await transaction(db, 'read write', (sql) => releaseClaim(sql, ctx, { id, fencingToken }))
    }

    await Promise.all(
      sessions.flatMap((sessionId, index) => [
        untilAccepted(() => claimAndRelease(sessionId)),
        untilAccepted(() => retitle(ctx, task.id, `title ${index}`)),
      ]),
    )

    const versions = versionsOf(await eventsOf(db, ctx), task.id)
    const writes = 1 + sessions.length * 3
    assert.deepEqual(
      versions,
      Array.from({ length: writes }, (_, index) => index + 1),
    )
    assert.equal((await selectTask(db, ctx, task.id))?.version, writes)
  })
})

describe('writers of one version', () => {
  it('are one winner and version_conflict for the others', async () => {
    const { ctx } = await testTenant(db)
    const task = await newTask(db, ctx)

    const results = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        transaction(db, 'read write', (sql) =>
          updateTask(sql, ctx, { ref: task.id, expectedVersion: 1, title: `title ${index}` }),
        ),
      ),
    )

    const codes = results.map((result) =>
      result.status === 'fulfilled' ? 'won' : (result.reason as AppError).code,
    )
    assert.equal(codes.filter((code) => code === 'won').length, 1)
    assert.equal(codes.filter((code) => code === 'version_conflict').length, 7)
  })

  it('complete a task once', async () => {
    const { ctx } = await testTenant(db)
    const task = await newTask(db, ctx)

    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () =>
        transaction(db, 'read write', (sql) =>
          completeTask(sql, ctx, { ref: task.id, expectedVersion: 1 }),
        ),
      ),
    )

    const codes = results.map((result) =>
      result.status === 'fulfilled' ? 'won' : (result.reason as AppError).code,
    )
    assert.deepEqual(codes.toSorted(), [
      'task_already_completed',
      'task_already_completed',
      'task_already_completed',
      'task_already_completed',
      'won',
    ])
    const events = await eventsOf(db, ctx)
    assert.equal(events.filter(({ type }) => type === 'task.completed').length, 1)
  })
})
