import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { findProject, repositoryRoot } from './project.ts'
import { chooseServer, DEFAULT_SERVER, isLoopback, serverOrigin } from './server.ts'

/** A folder with a configuration in each of `configured` and a repository in each of `repositories`. */
function tree(t: TestContext, configured: string[], repositories: string[] = []) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'project-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const at = (path: string) => join(root, path)
  mkdirSync(at('home/code/deep/er'), { recursive: true })
  mkdirSync(at('other/deep'), { recursive: true })
  for (const folder of repositories) mkdirSync(join(at(folder), '.git'))
  for (const folder of configured) {
    mkdirSync(join(at(folder), '.control-plane'))
    const config = { server: `http://${folder.replaceAll('/', '-')}.example` }
    writeFileSync(join(at(folder), '.control-plane/config.json'), JSON.stringify(config))
  }
  return {
    at,
    found: async (cwd: string) => (await findProject(at(cwd), at('home')))?.config.server,
  }
}

describe('the configuration of a repository', () => {
  it('is found from every folder of the repository', async (t) => {
    const { found } = tree(t, ['home/code'], ['home/code'])
    assert.equal(await found('home/code/deep/er'), 'http://home-code.example')
    assert.equal(await found('home/code'), 'http://home-code.example')
  })

  it('is not looked for above the root of the repository', async (t) => {
    const { found } = tree(t, ['home'], ['home/code'])
    assert.equal(await found('home/code/deep'), undefined)
  })

  it('is not looked for above a worktree, whose .git is a file', async (t) => {
    const { at, found } = tree(t, ['home'])
    writeFileSync(join(at('home/code'), '.git'), 'gitdir: /elsewhere\n')
    assert.equal(await found('home/code/deep'), undefined)
  })

  it('is looked for up to the home folder, and not above', async (t) => {
    const { found } = tree(t, ['home'])
    assert.equal(await found('home/code/deep'), 'http://home.example')
    const above = tree(t, ['.'])
    assert.equal(await above.found('home/code'), undefined)
  })

  it('is taken from the folder itself where there is neither repository nor home', async (t) => {
    const { found } = tree(t, ['other'])
    assert.equal(await found('other'), 'http://other.example')
    assert.equal(await found('other/deep'), undefined)
  })

  it('is looked for where a linked folder really is', async (t) => {
    const { at, found } = tree(t, ['home'], ['other'])
    symlinkSync(at('other/deep'), at('home/code/link'))
    assert.equal(await found('home/code/link'), undefined)
  })

  it('belongs to the root of the repository', async (t) => {
    const { at } = tree(t, [], ['home/code'])
    assert.equal(await repositoryRoot(at('home/code/deep'), at('home')), at('home/code'))
    assert.equal(await repositoryRoot(at('other/deep'), at('home')), undefined)
  })

  it('is refused with its name when it cannot be read', async (t) => {
    for (const [text, message] of [
      ['{', /config\.json: it is not JSON/],
      ['{"sever":"http://h"}', /config\.json: it has what is not known: sever/],
      ['{"server":7}', /config\.json: server must be a string/],
    ] as const) {
      const { at, found } = tree(t, ['home/code'])
      writeFileSync(join(at('home/code'), '.control-plane/config.json'), text)
      await assert.rejects(found('home/code'), message)
    }
  })
})

describe('the server', () => {
  const project = { folder: '/r', file: '/r/config.json', config: { server: 'https://of.file' } }
  const env = { CONTROL_PLANE_SERVER: 'https://of.environment' }

  it('is that of the flag, the environment, the file, or this machine, in this order', () => {
    assert.equal(chooseServer('https://of.flag/', env, project).origin, 'https://of.flag')
    assert.equal(chooseServer(undefined, env, project).origin, 'https://of.environment')
    assert.equal(chooseServer(undefined, {}, project).origin, 'https://of.file')
    assert.equal(chooseServer(undefined, {}, undefined).origin, DEFAULT_SERVER)
  })

  it('is a plain address; anything else is refused and not repeated', () => {
    assert.equal(serverOrigin(' HTTP://Host:8000/ ', 'x'), 'http://host:8000')
    for (const text of [
      '',
      'host:8000',
      'ftp://h',
      'http://u:pw@h',
      'http://h/api',
      'http://h?a=1',
    ]) {
      assert.throws(
        () => serverOrigin(text, '--server'),
        (error: Error) => {
          assert.match(error.message, /^Cannot use the server address of --server/)
          assert.ok(text === '' || !error.message.includes(text))
          return true
        },
      )
    }
  })

  it('is on this machine only when its address cannot lead elsewhere', () => {
    for (const host of ['localhost:1', '127.0.0.1', '127.9.9.9', '[::1]:5']) {
      assert.ok(isLoopback(new URL(`http://${host}`).origin), host)
    }
    for (const host of ['localhost.example', '127.0.0.1.example', '10.0.0.1', '[::2]']) {
      assert.ok(!isLoopback(new URL(`http://${host}`).origin), host)
    }
  })
})
