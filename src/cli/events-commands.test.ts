import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { loopbackServer, person, runToEnd } from '../../test/support/cli.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'

describe('events tail --follow', () => {
  it('shows what happens while it follows, and at the end the cursor to go on with', async (t) => {
    const db = await sharedDb()
    const { key } = await testTenant(db)
    const url = await loopbackServer(t, db)
    const { run, start } = person(t, { CONTROL_PLANE_API_KEY: key, CONTROL_PLANE_SERVER: url })
    const following = start('events', 'tail', '--follow', '--replay', '0', '--type', 'task.')
    let shown = ''
    following.stdout.on('data', (chunk) => (shown += String(chunk)))
    const ended = runToEnd(following)
    await waitFor(async () => {
      await run('task', 'create', 'Seen at once')
      return shown.includes('task.created')
      // A process of its own takes its time to begin on a busy machine.
    }, 60)
    following.kill('SIGINT')
    const { code, err } = await ended
    assert.equal(code, 130)
    assert.match(err, /^cursor: ec1_\S+\n/)
  })
})

describe('events tail', () => {
  it('shows what happened in a workspace, or what somebody did', async (t) => {
    const { tenant, say } = await adminPerson(t, await sharedDb())
    await say('workspace', 'create', 'shop')
    await say('task', 'create', 'Inside', '--workspace', 'shop')
    await say('task', 'create', 'Outside')
    const tail = async (...options: string[]) => await say('events', 'tail', ...options)
    await waitFor(async () => (await tail('--actor', tenant.ctx.actorId)).includes('Outside'))
    const inside = await tail('--workspace', 'shop')
    assert.match(inside, /workspace\.created[^]*task\.created .* Inside/)
    assert.doesNotMatch(inside, /Outside/)
    assert.equal(await tail('--actor', randomUUID()), '')
  })
})
