import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { WHITE_LIST } from '#adapter/white-list.ts'
import { call } from '#client/client.ts'
import { EVENTS } from '#contract/events.ts'
import { getMe } from '#contract/org.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { newId } from '#lib/id.ts'
import { breakGlass } from '#org/break-glass.ts'
import { reapExpired } from '#work/reap-expired.ts'
import { makeEveryEvent } from '../support/every-event.ts'
import { makeLetterEvents } from '../support/every-webhook-event.ts'
import { endLease } from '../support/leases.ts'
import { wholeStrata } from '../support/strata.ts'
import type { Whole } from '../support/strata.ts'

/** What the server adds to the data of every observation. */
const ADDED = ['mappingVersion', 'eventSequence', 'traceRunId']

interface Sent {
  kind: string
  data: Record<string, unknown>
}

/** The observations that the adapter has sent, and everything it said, as text. */
function sentBy({ exchanges }: Whole): { observations: Sent[]; text: string } {
  const calls = exchanges.filter(({ path }) => path === '/api/memory/observations:batch')
  return {
    observations: calls.flatMap(({ body }) => (body as { observations: Sent[] }).observations),
    text: JSON.stringify(calls.map(({ path, headers, body }) => [path, headers, body])),
  }
}

async function typesIn(db: Database, tenantId: string): Promise<string[]> {
  const rows = await db<{ type: string }[]>`
    select distinct type
    from journal
    where tenant_id = ${tenantId}`
  return rows.map(({ type }) => type)
}

describe('what the adapter tells memory', () => {
  it('is what the white list names, whatever stands in the journal and around it', async (t) => {
    const whole = await wholeStrata(t)
    const { db } = whole
    const { client, ctx } = await whole.tenant()
    await whole.deliver()
    const first = await typesIn(db, ctx.tenantId)

    const { needles, expiring } = await makeEveryEvent(client)
    await endLease(db, ctx, 'claims', expiring.claimId)
    await reapExpired(db, 10)
    await endLease(db, ctx, 'sessions', expiring.sessionId)
    await reapExpired(db, 10)
    await makeLetterEvents({ db, ctx }, client)
    needles.stay.set('reason of an emergency', 'needlereason')
    const { slug } = (await call(client, getMe, {})).tenant
    await transaction(db, 'read write', (sql) =>
      breakGlass(sql, {
        reason: 'needlereason',
        ttlSeconds: 60,
        tenant: slug,
        principalId: undefined,
      }),
    )
    await whole.deliver()

    const types = [...first, ...(await typesIn(db, ctx.tenantId))]
    const missing = Object.keys(EVENTS).filter((type) => !types.includes(type))
    assert.deepEqual(missing, [], 'make them happen in test/support/every-event.ts')
    const { observations, text } = sentBy(whole)
    const placesIn = (which: Map<string, string>, isThere: boolean) =>
      [...which].filter(([, needle]) => text.includes(needle) === isThere).map(([place]) => place)
    assert.deepEqual(placesIn(needles.stay, true), [], 'these have left')
    assert.deepEqual(placesIn(needles.leave, false), [], 'the walk proves nothing about these')
    const listed = new Set(Object.keys(WHITE_LIST))
    const kinds = new Set(observations.map(({ kind }) => kind))
    assert.deepEqual([...kinds].filter((kind) => !listed.has(kind)).toSorted(), [
      'decision',
      'finding',
    ])
    const foreign = observations
      .filter(({ kind }) => listed.has(kind))
      .flatMap(({ kind, data }) => {
        const known = [...(WHITE_LIST[kind] ?? []), ...ADDED]
        return Object.keys(data).filter((field) => !known.includes(field))
      })
    assert.deepEqual(foreign, [])
  })

  it('holds no event and no field that a later version or another hand wrote there', async (t) => {
    const whole = await wholeStrata(t)
    const { ctx } = await whole.tenant()
    const insert = (type: string, payload: Record<string, unknown>) => whole.db`
      insert into events
        (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, payload)
      values
        (${ctx.tenantId}, 1, ${newId()}, ${type}, 'task', ${newId()}, 1,
         ${whole.db.json(payload as never)})`
    await insert('task.whispered', { title: 'needle-event' })
    await insert('__proto__', { title: 'needle-prototype' })
    await insert('task.created', {
      publicId: 'TASK-1',
      title: 'A title that may leave',
      customFields: { note: 'needle-field' },
      description: 'needle-description',
      fencingToken: 77_777,
    })
    await whole.deliver()

    const { text } = sentBy(whole)
    assert.match(text, /A title that may leave/)
    assert.doesNotMatch(text, /needle|whispered|fencingToken/)
  })
})
