import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import { listEvents } from '#contract/events-api.ts'
import { bootstrap } from '#contract/org.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { databaseUrl } from '#db/address.ts'
import { ownDatabase } from '../support/db.ts'
import { ownEnvironment, startProgram, startRole } from '../support/program.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('the roles as processes of their own over one database', () => {
  it('run the demo: the second agent is told what the first one decided, with its source', async (t) => {
    const demo = startProgram(
      t,
      [join(ROOT, 'bin/run.mjs'), join(ROOT, 'demo/main.ts'), '--roles'],
      { env: ownEnvironment() },
    )
    assert.equal(await demo.ended, 0, demo.said())
    const [, fenced = ''] = /<recalled_memory>([^]*)<\/recalled_memory>/.exec(demo.said()) ?? []
    assert.match(fenced, /Migrations only go forward: .*\[source: control-plane:\/\/events\//)
    assert.match(demo.said(), /memoryStatus ok, lag 0/)
  })

  it('are one control plane: of twenty claimers at two of them one wins, and both say so', async (t) => {
    const { address } = await ownDatabase(t, 'control-plane')
    const token = 'bootstrap-token-of-this-test'
    const settings = {
      CP_DATABASE_URL: databaseUrl(address('app')),
      CP_PORT: '0',
      CP_BOOTSTRAP_TOKEN: token,
    }
    const processes = [startRole(t, 'api', settings), startRole(t, 'api', settings)]
    const urls = await Promise.all(
      processes.map(async (one) => (await one.hears(/is ready at (\S+)/))[1] ?? ''),
    )
    const [first = '', second = ''] = urls
    const made = await call({ url: first, token }, bootstrap, { body: { slug: 'x', name: 'X' } })
    const clients = urls.map((url) => ({ url, token: made.apiKey.key ?? '' }))
    const [here = { url: first, token }, there = { url: second, token }] = clients
    const task = await call(here, createTask, { body: { title: 'Wanted by all' } })
    const session = await call(there, openSession, { body: { clientName: 'test' } })

    const answers = await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const body = { sessionId: session.id }
        const at = number % 2 === 0 ? here : there
        return (await send(at, claimTask, { params: { ref: task.id }, body })).status
      }),
    )

    assert.deepEqual(
      answers.toSorted((a, b) => a - b),
      [201, ...Array<number>(19).fill(409)],
    )
    for (const client of clients) {
      const query = { types: 'task.claimed', limit: '200' }
      assert.equal((await call(client, listEvents, { query })).items.length, 1)
    }
    for (const one of processes) {
      one.kill('SIGTERM')
      assert.equal(await one.ended, 0, one.said())
    }
  })
})
