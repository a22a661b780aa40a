import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

describe('a task on the command line', () => {
  it('is changed, moved along its lifecycle, and refused what does not lead on', async (t) => {
    const { say, json, run } = await adminPerson(t, db)
    await say('task', 'create', 'Fix it')
    await say('workspace', 'create', 'shop')
    const changes = ['--title', 'Fix the login', '--priority', 'high', '--workspace', 'shop']
    assert.equal(
      await say('task', 'update', 'TASK-1', ...changes),
      'Changed TASK-000001 to version 2\n',
    )
    assert.match(
      await say('task', 'transitions', 'TASK-1'),
      /^now open[^]*blocked +blocked +task update/,
    )
    await say('task', 'update', 'TASK-1', '--status', 'blocked', '--workspace', 'none')
    const task = await json('task', 'get', 'TASK-1')
    assert.deepEqual(
      [task['status'], task['title'], task['workspaceId']],
      ['blocked', 'Fix the login', null],
    )
    const refused = await run('task', 'update', 'TASK-1', '--status', 'completed')
    assert.match(refused.err, /invalid_transition/)
    const late = await run('task', 'update', 'TASK-1', '--title', 'x', '--expected-version', '1')
    assert.match(late.err, /version_conflict/)
    assert.match(await say('task', 'types'), /default +1 .* open, in_progress/)
  })

  it('keeps its status under the claim that is held here', async (t) => {
    const { say, json } = await adminPerson(t, db)
    await say('task', 'create', 'Fix it')
    await say('task', 'claim', 'TASK-1')
    await say('task', 'update', 'TASK-1', '--status', 'blocked')
    const task = await json('task', 'get', 'TASK-1')
    assert.equal(task['status'], 'blocked')
  })

  it('is commented on and related to others', async (t) => {
    const { say, run, runWith } = await adminPerson(t, db)
    for (const title of ['one', 'two']) await say('task', 'create', title)
    assert.match((await run('task', 'comments', 'TASK-1')).err, /no comments/)
    await say('task', 'comment', 'TASK-1', 'The bank', 'answers 503')
    await runWith({ stdin: 'Two\nlines' }, 'task', 'comment', 'TASK-1', '-')
    assert.match(await say('task', 'comments', 'TASK-1'), /The bank answers 503\n[^]*Two\nlines\n/)
    const said = await say('task', 'relate', 'TASK-1', 'depends_on', 'TASK-2')
    assert.equal(said, 'TASK-000001 depends_on TASK-000002\n')
    const circle = await run('task', 'relate', 'TASK-2', 'depends_on', 'TASK-1')
    assert.match(circle.err, /dependency_cycle/)
    const listed = await say('task', 'relations', 'TASK-2')
    const [, id = ''] = /^(\S{36}) +TASK-000001 +depends_on +TASK-000002$/m.exec(listed) ?? []
    assert.equal(await say('task', 'unrelate', 'TASK-2', id), `Removed ${id}\n`)
    assert.match((await run('task', 'relations', 'TASK-1')).err, /no relations/)
  })
})

describe('a run on the command line', () => {
  it('is talked to, and its context shows what it goes by', async (t) => {
    const { say, run } = await adminPerson(t, db)
    await say('task', 'create', 'Fix it')
    await say('task', 'claim', 'TASK-1')
    await say('run', 'start', 'TASK-1')
    await say('run', 'checkpoint', 'TASK-1', '--data', '{"step":1}')
    assert.equal(
      await say('run', 'send', 'TASK-1', 'steer', 'Keep', 'the names'),
      'Message 1 accepted\n',
    )
    assert.match(await say('run', 'messages', 'TASK-1'), /1 +steer +accepted +Keep the names/)
    assert.match(
      await say('run', 'context', 'TASK-1'),
      /^Run \S+ of TASK-000001 Fix it, attempt 1\n[^]*checkpoint of attempt 1, progress: \{"step":1\}\nsteer: Keep the names/,
    )
    assert.match(await say('run', 'request-cancel', 'TASK-1', '--reason', 'late'), /^Asked/)
    assert.match(await say('run', 'cancel', 'TASK-1'), /cancelled\n/)
    assert.equal((await run('run', 'send', 'TASK-1', 'shout', 'x')).code, 2)
  })

  it('is suspended or handed over with its claim, and another goes on', async (t) => {
    const { say, run } = await adminPerson(t, db)
    await say('task', 'create', 'Fix it')
    await say('task', 'claim', 'TASK-1')
    await say('run', 'start', 'TASK-1')
    assert.match(
      await say('run', 'suspend', 'TASK-1', '--reason', 'no access'),
      /suspended: no access/,
    )
    assert.match((await run('run', 'start', 'TASK-1')).err, /No claim of TASK-1 is known here/)
    await say('task', 'claim', 'TASK-1')
    await say('run', 'start', 'TASK-1')
    const words = ['--summary', 'Half done', '--next', 'The other half']
    const handed = await say('run', 'handoff', 'TASK-1', ...words)
    assert.equal(handed, 'Handed over TASK-000001; attempt 3 is next\n')
    assert.match(await say('task', 'claimability', 'TASK-1'), /^claimable/)
  })
})
