import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { send } from '#client/client.ts'
import { getMe, updatePrincipal } from '#contract/org.ts'
import { transaction } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import { testApp, testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { waitForWaiters } from '../../test/support/locks.ts'
import { orgRoutes } from './routes.ts'

const db = await sharedDb()
const app = testApp(db, orgRoutes)
const half = Math.ceil(db.options.max / 2)

describe('a principal whose requests all have to wait', () => {
  it('leaves connections to others, and each of its requests is answered in the end', async () => {
    const { ctx, key, caller } = await testTenant(db)
    const other = testClient(app, (await caller(['tasks.read'])).key)
    const id = ctx.actorId
    const answers = await transaction(db, 'read write', async (sql) => {
      await lockEntities(sql, ctx, [{ type: 'principal', id }])
      const requests = Array.from({ length: 3 * half }, (_, n) =>
        send(testClient(app, key), updatePrincipal, {
          params: { id },
          ifMatch: 1,
          body: { displayName: `name ${n}` },
        }),
      )
      await waitForWaiters(db, sql, half)
      const heard = await send(other, getMe, {})
      assert.equal(heard.status, 200)
      return requests
    })
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.equal(statuses.filter((status) => status === 409).length, 3 * half - 1)
  })
})
