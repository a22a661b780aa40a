import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { findNode, isNewEnough } from '../bin/node.mjs'

const ROOT = join(import.meta.dirname, '..')
/** Makes the launcher believe that it runs on this version; the program it starts does not inherit it. */
const pretend = (version: string) => [
  '--import',
  `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'${version}'})`,
]

function run(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr })
    })
  })
}

async function program(t: TestContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'launcher-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'program.ts'), text)
  return join(folder, 'program.ts')
}

const ECHO = `const answer: number = 7
console.log(JSON.stringify([process.argv.slice(1), process.versions.node]))
process.exitCode = answer`

describe('launcher', () => {
  it('runs a TypeScript file with its arguments and ends with its exit code', async (t) => {
    const file = await program(t, ECHO)
    const { code, stdout } = await run([join(ROOT, 'bin/run.mjs'), file, 'one', '--two'])

    assert.equal(code, 7)
    assert.deepEqual(JSON.parse(stdout), [[file, 'one', '--two'], process.versions.node])
  })

  it('starts the packaged Node where the current one is too old', async (t) => {
    const file = await program(t, ECHO)
    if (findNode() === process.execPath && !process.execPath.startsWith(ROOT)) {
      t.skip('No packaged Node is installed for this machine')
      return
    }
    const { code, stdout } = await run([
      ...pretend('20.1.0'),
      join(ROOT, 'bin/run.mjs'),
      file,
      'one',
    ])

    assert.equal(code, 7)
    const [args, version] = JSON.parse(stdout) as [string[], string]
    assert.deepEqual(args, [file, 'one'])
    assert.match(version, /^24\./)
  })

  it('says in one sentence that Node is too old where no packaged one is installed', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'launcher-'))
    t.after(() => rm(folder, { recursive: true }))
    await cp(join(ROOT, 'bin'), join(folder, 'bin'), { recursive: true })

    for (const name of ['strata', 'control-plane', 'test']) {
      const args = name === 'test' ? ['bin'] : []
      await writeFile(join(folder, 'bin/a.test.ts'), '')
      const { code, stderr } = await run([
        ...pretend('20.1.0'),
        join(folder, `bin/${name}.mjs`),
        ...args,
      ])
      assert.equal(code, 2, name)
      assert.match(
        stderr,
        /^Cannot start: Node\.js 24\.12 or newer is needed and this is 20\.1\.0;[^\n]*\n$/,
      )
    }
  })

  it('passes a signal on and waits for the end of the program', async (t) => {
    const file = await program(
      t,
      `process.on('SIGTERM', () => { console.log('closing'); process.exit(3) })
       setInterval(() => {}, 1000); console.log('ready')`,
    )
    const child = spawn(process.execPath, [...pretend('20.1.0'), join(ROOT, 'bin/run.mjs'), file])
    let said = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    const [code] = (await once(child, 'close')) as [number]

    assert.equal(code, 3)
    assert.match(said, /closing/)
  })

  it('takes the versions that run TypeScript and no others', () => {
    const versions = ['18.0.0', '22.18.0', '24.11.9', '24.12.0', '24.22.3', '25.0.0']
    assert.deepEqual(versions.map(isNewEnough), [false, false, false, true, true, true])
  })
})
