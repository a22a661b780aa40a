import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { person, runToEnd } from '../../test/support/cli.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { waitFor } from '../../test/support/wait.ts'
import { createScreen } from './screen.ts'

const KEY = { CONTROL_PLANE_API_KEY: 'cp_abc_secret' }

/** A page of the journal with nothing in it. */
const EMPTY = { items: [], nextCursor: 'ec1_x', hasMore: false }

describe('the program', () => {
  it('tells its version and its help, and ends with 0', async (t) => {
    const { spawn, run } = person(t)
    const { version } = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'),
    )
    assert.deepEqual(await spawn({}, '--version'), { code: 0, out: `${version}\n`, err: '' })
    for (const words of [['--help'], ['help']]) {
      const { code, out } = await run(...words)
      assert.deepEqual([code, /task claim <task>/.test(out)], [0, true])
    }
    assert.match((await run('help', 'task', 'claim')).out, /--intent <text>/)
    assert.match((await run('task', '--help')).out, /task claim <task>/)
    assert.doesNotMatch((await run('task', '--help')).out, /workspace create/)
  })

  it('ends with 2 on wrong usage and says on stderr what is wrong', async (t) => {
    const { run, spawn } = person(t, KEY)
    assert.equal((await spawn({}, 'tsk', 'list')).code, 2)
    for (const [args, message] of [
      [[], /^Usage: control-plane/],
      [['task'], /^Usage: control-plane[^]*task list/],
      [['taks', 'list'], /Unknown command "taks list"; did you mean "task list"\?/],
      [['task', 'frobnicate'], /Unknown command "task frobnicate"/],
      [['task', 'get'], /<task> is missing\nUsage: control-plane task get <task>/],
      [['task', 'list', '--limitt', '3'], /Unknown option --limitt; did you mean --limit\?/],
      [['task', 'create', 'x', '--priority', 'urgent'], /--priority must be one of critical, high/],
      [['task', 'claim', 'TASK-1', '--ttl', 'long'], /--ttl must be a whole number/],
      [
        ['run', 'checkpoint', crypto.randomUUID(), '--data', '[1]', '--fencing-token', '1'],
        /--data must be a JSON object/,
      ],
      [
        ['task', 'complete', 'TASK-1', '--claim', 'x'],
        /--claim and --fencing-token belong together/,
      ],
      [['context', '--prompt', '--json'], /do not go together/],
      [['whoami', '--server', 'nowhere'], /Cannot use the server address of --server/],
      [['connect', 'git', '.'], /A repository is published to a workspace, and none is named/],
    ] as const) {
      const { code, out, err } = await run(...args)
      assert.deepEqual([code, out], [2, ''], args.join(' '))
      assert.match(err, message)
    }
  })

  it('ends with 1 when the server refuses, naming each fault, or is no control plane', async (t) => {
    const errors = [{ loc: 'body.title', message: 'must not be blank' }]
    const error = {
      code: 'invalid_request',
      message: 'Cannot read\u001b[2J it',
      details: { errors },
    }
    const bad = await fakeServer(t, (_request, response) => reply(response, 400, { error }))
    const { run, spawn } = person(t, KEY)
    const refused = await run('task', 'list', '--server', bad.url)
    assert.deepEqual(refused, {
      code: 1,
      out: '',
      err: 'control-plane: invalid_request: Cannot read it\nbody.title: must not be blank\n',
    })
    const other = await fakeServer(t, (_request, response) => reply(response, 200, '<html>'))
    const strange = await spawn({}, 'whoami', '--server', other.url)
    assert.equal(strange.code, 1)
    assert.match(strange.err, /^control-plane: unexpected_answer: /)
  })

  it('ends with 130 when it is interrupted', async (t) => {
    const { url, heard } = await fakeServer(t, (_request, response) => reply(response, 200, EMPTY))
    const { start } = person(t, { ...KEY, CONTROL_PLANE_SERVER: url })
    const following = start('events', 'tail', '--follow', '--after', 'ec1_a')
    const ended = runToEnd(following)
    await waitFor(() => heard.length > 0)
    following.kill('SIGINT')
    assert.equal((await ended).code, 130)
  })

  it('goes on following through a server that is away for a while', async (t) => {
    let answers = 0
    const { url } = await fakeServer(t, (_request, response) => {
      answers += 1
      if (answers === 1) response.destroy()
      else reply(response, answers === 2 ? 200 : 422, answers === 2 ? EMPTY : refusal)
    })
    const refusal = { error: { code: 'invalid_cursor', message: 'Cannot read it', details: {} } }
    const { run } = person(t, { ...KEY, CONTROL_PLANE_SERVER: url })
    const { code, err } = await run('events', 'tail', '--follow', '--after', 'ec1_a')
    assert.equal(code, 1)
    assert.match(err, /; trying again\ncursor: ec1_a\ncontrol-plane: invalid_cursor: /)
  })

  it('ends quietly when nobody reads its answer any more', async (t) => {
    const { start } = person(t)
    const child = start('--help')
    child.stdout.destroy()
    let complaint = ''
    child.stderr.on('data', (chunk) => (complaint += String(chunk)))
    assert.deepEqual(await once(child, 'exit'), [0, null])
    assert.equal(complaint, '')
  })
})

const shown = (env: Record<string, string>, isTTY: boolean) => {
  const stdout = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  const stderr = new PassThrough()
  const signal = new AbortController().signal
  const io = { env, cwd: '/', home: '/', stdin: new PassThrough(), stdout, stderr, signal }
  createScreen(io, false).heading('Title')
  return String(stdout.read())
}

describe('colour', () => {
  it('is for terminals alone, and never with NO_COLOR or a dumb terminal', () => {
    assert.equal(shown({}, true), '\u001b[1mTitle\u001b[22m\n')
    assert.equal(shown({}, false), 'Title\n')
    assert.equal(shown({ NO_COLOR: '1' }, true), 'Title\n')
    assert.equal(shown({ TERM: 'dumb' }, true), 'Title\n')
  })
})
