import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { sharedDb } from '../../test/support/db.ts'
import { COMMANDS } from './commands.ts'

const db = await sharedDb()

describe('setting up', () => {
  it('writes a configuration without secrets at the root, keeps what it says, and guards the server', async (t) => {
    const { folder, url, tenant, say, runWith } = await adminPerson(t, db)
    const slug = `ws-${randomUUID()}`
    assert.match(await say('workspace', 'create', slug, '--name', 'Shop'), /^Created workspace/)
    mkdirSync(join(folder, 'deep'))
    const { code } = await runWith({ cwd: join(folder, 'deep') }, 'init', '--workspace', slug)
    assert.equal(code, 0)
    await say('init', '--repository', 'shop')
    const text = readFileSync(join(folder, '.control-plane/config.json'), 'utf8')
    const { workspace, ...config } = JSON.parse(text)
    assert.match(workspace, /^[0-9a-f-]{36}$/)
    assert.deepEqual(config, { server: url, repository: 'shop' })
    assert.ok(!text.includes(tenant.key))
    const other = await runWith({}, 'init', '--server', 'http://127.0.0.1:1')
    assert.equal(other.code, 2)
    assert.match(other.err, /names the server .*\nhint: --force/)
    assert.equal((await runWith({}, 'init', '--server', 'http://127.0.0.1:1', '--force')).code, 0)
  })

  it('says who one is', async (t) => {
    const { url, tenant, say, json } = await adminPerson(t, db)
    assert.match(await say('whoami'), new RegExp(`server +${url} \\(CONTROL_PLANE_SERVER\\)`))
    const me = await json('whoami')
    assert.equal((me['principal'] as { id: string }).id, tenant.ctx.actorId)
    assert.ok(!JSON.stringify(me).includes(tenant.key))
  })

  it('makes workspaces, agents and keys that work', async (t) => {
    const { say, json, runWith } = await adminPerson(t, db)
    const slug = `top-${randomUUID()}`
    await say('workspace', 'create', slug)
    await say('workspace', 'create', 'leaf', '--parent', slug)
    assert.match(await say('workspace', 'tree'), new RegExp(`${slug} .*\n· leaf `))
    assert.match(await say('workspace', 'list', '--parent', slug), /leaf +active/)
    const agent = await json('principal', 'create', 'Ada', 'L.', '--kind', 'agent')
    assert.match(await say('principal', 'list', '--kind', 'agent'), /agent +active +Ada L\./)
    const id = String(agent['id'])
    const key = (await say('key', 'create', id)).trim()
    assert.match(key, /^cp_\S+$/)
    const env = { CONTROL_PLANE_API_KEY: key }
    assert.match((await runWith({ env }, 'whoami')).out, /^Ada L\. \(agent\)/)
    assert.match((await runWith({ env }, 'task', 'list')).err, /^no tasks$/m)
    const keys = await json('key', 'list', id)
    const [listed] = keys['items'] as { id: string }[]
    assert.match(await say('key', 'revoke', listed?.id ?? ''), /^Revoked key/)
    assert.match((await runWith({ env }, 'whoami')).err, /invalid_credentials/)
  })
})

describe('work', () => {
  it('goes from a task over claim and run to completion, each step finding the one before', async (t) => {
    const { folder, say, json } = await adminPerson(t, db)
    const created = await say(
      'task',
      'create',
      'Fix',
      'it',
      '--priority',
      'high',
      '--acceptance',
      'green',
    )
    assert.equal(created, 'Created TASK-000001 Fix it\n')
    assert.match(await say('work', 'list'), /TASK-000001 +open +high +Fix it/)
    assert.equal(await say('task', 'claimability', 'TASK-1'), 'claimable\n')
    const claimed = await say('task', 'claim', 'TASK-000001', '--intent', 'look')
    assert.match(
      claimed,
      /^Claimed TASK-000001 until .*\nsession .*\nclaim .*\nfencing token +1\n$/,
    )
    const state = join(folder, '.control-plane/state')
    const [holder = ''] = readdirSync(state).filter((name) => name !== '.gitignore')
    for (const name of readdirSync(join(state, holder))) {
      assert.equal(statSync(join(state, holder, name)).mode & 0o777, 0o600)
    }
    assert.equal(readFileSync(join(state, '.gitignore'), 'utf8'), '*\n')
    assert.match(await say('task', 'renew', 'TASK-1', '--ttl', '900'), /fencing token +1/)
    assert.match(await say('run', 'start', 'TASK-1', '--model', 'm'), /attempt 1$/m)
    assert.match(await say('run', 'checkpoint', 'TASK-1', '--data', '{"step":1}'), /^Checkpoint 1/)
    assert.match(await say('run', 'fail', 'TASK-1', '--reason', 'no luck'), /failed: no luck/)
    assert.match(await say('run', 'start', 'TASK-1'), /attempt 2$/m)
    assert.match(await say('run', 'status', 'TASK-1'), /status +running/)
    assert.match(await say('run', 'succeed', 'TASK-1', '--output', '{"ok":true}'), /succeeded$/m)
    assert.match(await say('run', 'list', '--task', 'TASK-000001'), /2 +succeeded[^]*1 +failed/)
    assert.match(
      await say('task', 'complete', 'TASK-1', '--evidence', 'https://ci/1'),
      /^Completed/,
    )
    const task = await json('task', 'get', 'TASK-1')
    assert.deepEqual([task['status'], task['evidence']], ['completed', ['https://ci/1']])
    assert.match(await say('task', 'list', '--status', 'completed'), /TASK-000001/)
    assert.match(await say('session', 'list'), /active +control-plane CLI/)
    await say('session', 'close')
    assert.deepEqual(readdirSync(join(state, holder)), [])
  })

  it('completes the task with its run, gives another back, and ends a claim with its session', async (t) => {
    const { say, json, run } = await adminPerson(t, db)
    for (const title of ['one', 'two', 'three']) await say('task', 'create', title)
    const session = await json('session', 'open', '--ttl', '600')
    for (const ref of ['TASK-1', 'TASK-2', 'TASK-3']) {
      assert.equal((await json('task', 'claim', ref))['sessionId'], session['id'])
    }
    await say('run', 'start', 'TASK-1')
    assert.match(await say('run', 'succeed', 'TASK-1', '--complete-task'), /TASK-000001 completed/)
    assert.equal(
      await say('task', 'release', 'TASK-2', '--reason', 'later'),
      'Released TASK-000002\n',
    )
    await say('session', 'close')
    const late = await run('task', 'release', 'TASK-3')
    assert.deepEqual([late.code, /No claim of TASK-3 is known here/.test(late.err)], [2, true])
    assert.match(await say('work', 'list'), /two\n[^]*three/)
  })

  it('says who has a task and until when, and changes nothing', async (t) => {
    const { say, runWith } = await adminPerson(t, db)
    await say('task', 'create', 'mine')
    await say('task', 'claim', 'TASK-1')
    const agent = /[0-9a-f-]{36}/.exec(await say('principal', 'create', 'Eve'))?.[0] ?? ''
    const key = (
      await say(
        'key',
        'create',
        agent,
        '--permission',
        'tasks.claim,sessions.open,tasks.read',
        '--permission',
        'principals.read',
      )
    ).trim()
    const env = { CONTROL_PLANE_API_KEY: key }
    const refused = await runWith({ env }, 'task', 'claim', 'TASK-1')
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /^control-plane: task_already_claimed: .*\nclaimed by Admin \(human\) until 20/,
    )
    const release = await runWith({ env }, 'task', 'release', 'TASK-1')
    assert.equal(release.code, 2)
  })

  it('never acts under a newer claim of its own than the one it was given', async (t) => {
    const { folder, say, json, run, runWith } = await adminPerson(t, db)
    await say('task', 'create', 'twice')
    const first = await json('task', 'claim', 'TASK-1')
    const elsewhere = { cwd: join(folder, 'other') }
    mkdirSync(join(elsewhere.cwd, '.git'), { recursive: true })
    await runWith(elsewhere, 'session', 'close', String(first['sessionId']))
    assert.equal((await runWith(elsewhere, 'task', 'claim', 'TASK-1')).code, 0)
    const late = await run('task', 'complete', 'TASK-1')
    assert.equal(late.code, 1)
    assert.match(late.err, /^control-plane: stale_claim: .*\nhint: /)
    const later = await run('task', 'release', 'TASK-1')
    assert.match(later.err, /No claim of TASK-1 is known here/)
    assert.equal((await runWith(elsewhere, 'task', 'complete', 'TASK-1')).code, 0)
  })
})

describe('results', () => {
  it('are published under the claim of their task and come back byte for byte', async (t) => {
    const { folder, say, json, run } = await adminPerson(t, db)
    await say('task', 'create', 'Report')
    await say('task', 'claim', 'TASK-1')
    for (const [name, bytes] of [
      ['note.md', Buffer.from('Ёлка\n')],
      ['image.png', Buffer.from([0, 0xff, 0x80, 10])],
    ] as const) {
      writeFileSync(join(folder, name), bytes)
      const file = ['--file', name, '--task', 'TASK-1']
      const { id, taskId } = await json('artifact', 'add', '--type', 'report', ...file)
      assert.match(String(taskId), /^[0-9a-f-]{36}$/)
      const into = ['--output', `copy-${name}`]
      await say('artifact', 'get', String(id), ...into)
      assert.deepEqual(readFileSync(join(folder, `copy-${name}`)), bytes)
      const again = await run('artifact', 'get', String(id), ...into)
      assert.deepEqual([again.code, /EEXIST/.test(again.err)], [2, true])
    }
    const link = ['--type', 'link', '--name', 'CI', '--uri', 'https://ci.example/1']
    const { id } = await json('artifact', 'add', ...link)
    assert.match(await say('artifact', 'get', String(id)), /uri +https:\/\/ci\.example\/1/)
    assert.equal((await run('artifact', 'get', String(id), '--output', 'x')).code, 2)
    const listed = await say('artifact', 'list')
    assert.match(listed, /CI +https:\/\/ci\.example\/1\n[^]*image\.png +4 bytes[^]*note\.md/)
    assert.doesNotMatch(await say('artifact', 'list', '--task', 'TASK-1'), /CI/)
  })

  it('that are large are uploaded in parts, with word of how far it is, and can be gone on with', async (t) => {
    const { folder, say, json, run } = await adminPerson(t, db)
    const bytes = randomBytes(9_000_000)
    writeFileSync(join(folder, 'core.bin'), bytes)
    const file = ['--type', 'dump', '--file', 'core.bin', '--media-type', 'application/x-core']
    const { code, out, err } = await run('artifact', 'add', ...file)
    assert.equal(code, 0, err)
    assert.match(err, /Uploading: \d+ of 9000000\n/)
    const [, id = ''] = /Added dump (\S+)/.exec(out) ?? []
    assert.match(
      await say('artifact', 'get', id),
      /bytes +9000000\nmedia type +application\/x-core/,
    )
    await say('artifact', 'get', id, '--output', 'copy.bin')
    assert.ok(readFileSync(join(folder, 'copy.bin')).equals(bytes))

    const lost = await run('artifact', 'add', ...file, '--resume', randomUUID())
    assert.equal(lost.code, 1)
    assert.match(lost.err, /not_found/)
    const { id: taskId } = await json('task', 'create', 'Somewhere else')
    await say('task', 'claim', String(taskId))
    const stale = ['--claim', randomUUID(), '--fencing-token', '1']
    const refused = await run('artifact', 'add', ...file, '--task', String(taskId), ...stale)
    assert.match(refused.err, /not_found/)
    const none = await run('artifact', 'add', '--type', 'log', '--file', '.')
    assert.match(none.err, /it is no file/)
  })
})

describe('the commands', () => {
  it('that list things can read on after a page', () => {
    const lists = COMMANDS.filter(({ name }) => name.endsWith(' list'))
    const endless = lists.filter(({ options }) => !('cursor' in options) || !('limit' in options))
    assert.deepEqual(
      endless.map(({ name }) => name),
      [],
    )
  })

  it('are each run by a test', () => {
    const tests = globSync('*.test.ts', { cwd: import.meta.dirname })
    const text = tests.map((file) => readFileSync(join(import.meta.dirname, file), 'utf8')).join('')
    const missing = COMMANDS.filter(({ name }) => {
      const words = name.split(' ').map((word) => `'${word}'`)
      return !new RegExp(`\\(\\s*(?:\\{[^)]*\\},\\s*)?${words.join(String.raw`,\s*`)}`).test(text)
    })
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    )
  })
})
