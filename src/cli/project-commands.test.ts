import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

describe('projects on the command line', () => {
  it('begin with a configuration, are revised, and tell which layer set what', async (t) => {
    const { folder, say, json, run } = await adminPerson(t, db)
    await say('workspace', 'create', 'shop')
    await say('workspace', 'create', 'api', '--parent', 'shop')
    const write = (name: string, value: unknown) =>
      writeFileSync(join(folder, name), JSON.stringify(value))
    write('first.json', { governance: { maxConcurrentRuns: 2 } })
    const { id } = await json('project', 'create', 'shop', '--config', 'first.json')
    assert.match(
      await say('project', 'list'),
      new RegExp(`${String(id)} +\\S+ \\(open\\) +1 +shop`),
    )
    await say('project', 'create', 'shop/api')
    const listed = await say('project', 'list', '--workspace', 'shop', '--descendants')
    assert.equal(listed.trim().split('\n').length, 3)

    write('second.json', { governance: { maxConcurrentRuns: 1 }, agentInstructions: 'Test first' })
    const written = await run('project', 'revise', 'shop', 'second.json', '--comment', 'slower')
    assert.equal(written.out, 'Wrote revision 2\n')
    assert.match(await say('project', 'config', 'shop'), /maxConcurrentRuns +2 +revision/)
    assert.equal(await say('project', 'activate', 'shop', '2'), 'Revision 2 is in force\n')
    assert.match(
      await say('project', 'config', 'shop'),
      /maxConcurrentRuns +1 +revision[^]*agentInstructions +Test first +revision/,
    )
    assert.match(await say('project', 'config', 'shop/api'), /maxConcurrentRuns +1 +ancestor/)
    assert.match(await say('project', 'revisions', String(id)), /2 +\S+ +slower\n1 /)
    write('weak.json', { governance: { maxConcurrentRuns: 9 } })
    const weak = await run('project', 'revise', 'shop/api', 'weak.json', '--activate')
    assert.match(weak.err, /governance_weakened/)
  })

  it('move along their lifecycle and are closed', async (t) => {
    const { say, json, run } = await adminPerson(t, db)
    await say('workspace', 'create', 'shop')
    await say('project', 'create', 'shop')
    const shown = await json('project', 'get', 'shop')
    const [next] = shown['transitions'] as { statusKey: string }[]
    const to = next?.statusKey ?? ''
    assert.match(await say('project', 'get', 'shop'), new RegExp(`can go to .*\\b${to}\\b`))
    const moved = await say('project', 'transition', 'shop', to, '--comment', 'we begin')
    assert.match(moved, new RegExp(`status +${to} \\(`))
    assert.match((await run('project', 'transition', 'shop', 'nowhere')).err, /invalid_transition/)
    assert.match(await say('project', 'archive', 'shop'), /^Archived project/)
    await say('workspace', 'create', 'plain')
    assert.match((await run('project', 'get', 'plain')).err, /Workspace "plain" is no project/)
  })
})

describe('goals on the command line', () => {
  it('are made, changed and found', async (t) => {
    const { say, json, run } = await adminPerson(t, db)
    await say('workspace', 'create', 'shop')
    const criteria = ['--criterion', 'Every payout has a receipt', '--criterion', 'No retries']
    const { id } = (await json(
      'goal',
      'create',
      'No',
      'loss',
      '--workspace',
      'shop',
      ...criteria,
    )) as {
      id: string
    }
    await say('goal', 'create', 'Fewer retries', '--parent', id)
    assert.match(
      await say('goal', 'get', id),
      /^No loss\n[^]*- Every payout has a receipt\n- No retries/,
    )
    await say('goal', 'update', id, '--status', 'achieved')
    assert.match(
      await say('goal', 'list', '--status', 'achieved', '--workspace', 'shop'),
      /achieved +No loss/,
    )
    assert.match(await say('goal', 'list', '--parent', id), /active +Fewer retries/)
    assert.equal((await run('goal', 'list', '--status', 'done')).code, 2)
  })
})
