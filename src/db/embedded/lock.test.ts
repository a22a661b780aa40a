import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { temporaryFolder } from '../../../test/support/embedded.ts'
import { lockFolder } from './lock.ts'

/** Leaves what a holder that was killed leaves: its link and its socket. */
async function leaveStaleLock(folder: string): Promise<void> {
  const text = `require('net').createServer().listen(process.argv[1], () => console.log('on'))`
  const holder = spawn(process.execPath, ['-e', text, join(folder, 'strata-killed.sock')])
  await once(holder.stdout, 'data')
  await symlink('strata-killed.sock', join(folder, 'strata.lock.1'))
  holder.kill('SIGKILL')
  await once(holder, 'close')
  assert.deepEqual((await readdir(folder)).toSorted(), ['strata-killed.sock', 'strata.lock.1'])
}

/** Each of them tries until it has held the folder once, and looks whether it holds it alone. */
async function holdInTurn(folder: string, holders: number): Promise<number[]> {
  let held = 0
  const seen: number[] = []
  const one = async (): Promise<void> => {
    for (;;) {
      const lock = await lockFolder(folder).catch(() => undefined)
      if (!lock) continue
      seen.push(++held)
      await setImmediate()
      held--
      return lock.release()
    }
  }
  await Promise.all(Array.from({ length: holders }, one))
  return seen
}

describe('lockFolder', () => {
  it('lets one in at a time and the next one in after the release', async (t) => {
    const folder = await temporaryFolder(t)
    const lock = await lockFolder(folder)
    await assert.rejects(lockFolder(folder), {
      name: 'StartError',
      message: new RegExp(`process ${process.pid} is using it`),
    })
    await lock.release()

    await (await lockFolder(folder)).release()

    assert.deepEqual(await readdir(folder), ['strata.lock.2'])
  })

  it('takes over from a process that was killed', async (t) => {
    const folder = await temporaryFolder(t)
    await leaveStaleLock(folder)

    const lock = await lockFolder(folder)

    await assert.rejects(lockFolder(folder), { message: /is using it/ })
    await lock.release()
  })

  it('lets exactly one of twenty take over', async (t) => {
    const folder = await temporaryFolder(t)
    await leaveStaleLock(folder)

    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)))

    const winners = results.filter((result) => result.status === 'fulfilled')
    assert.equal(winners.length, 1)
    await winners[0]?.value.release()
    assert.deepEqual(await readdir(folder), ['strata.lock.2'])
  })

  it('never has two holders, however often it changes hands', async (t) => {
    const folder = await temporaryFolder(t)

    const seen = await holdInTurn(folder, 40)

    assert.deepEqual(
      seen,
      Array.from({ length: 40 }, () => 1),
    )
  })

  it('works in a folder whose path is longer than a socket may have', async (t) => {
    const folder = join(await temporaryFolder(t), 'x'.repeat(90), 'y'.repeat(90))
    await mkdir(folder, { recursive: true })
    const lock = await lockFolder(folder)

    await assert.rejects(lockFolder(folder), { message: /is using it/ })
    await lock.release()
    await (await lockFolder(folder)).release()
  })

  it('says what is wrong with a folder that is not there', async (t) => {
    const folder = join(await temporaryFolder(t), 'missing')

    await assert.rejects(lockFolder(folder), {
      name: 'StartError',
      message: /^Cannot use the data folder ".*missing": /,
    })
  })
})
