import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from '#db/sql.ts'
import { startWriter, temporaryFolder } from '../../../test/support/embedded.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { startEmbedded } from './start.ts'

const ONE = { maxConnections: 1, appName: 'test' }

/** Numbers of the rows whose commit was acknowledged. */
function acknowledged(said: string): number[] {
  // The last line may be cut off in the middle of a number.
  return said.split('\n').slice(0, -1).map(Number).filter(Number.isSafeInteger)
}

async function writtenRows(dataFolder: string): Promise<{ rows: Set<number>; told: string[] }> {
  const told: string[] = []
  await using server = await startEmbedded({
    dataFolder,
    progress: (message) => told.push(message),
  })
  const db = connect(server.address('memory', 'app'), ONE)
  const rows = await db<{ n: number }[]>`select n from written`
  await db.end()
  return { rows: new Set(rows.map((row) => row.n)), told }
}

describe('the embedded server after kill -9', () => {
  it('of its process: stops by itself, and a new start waits for it and finds every row', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const seen: number[] = []
    for (let round = 0; round < 2; round++) {
      const writer = startWriter(t, [dataFolder])
      await writer.until('ready')
      await writer.until(String(seen.length + 200))
      writer.kill('SIGKILL')
      await writer.ended
      seen.push(...acknowledged(writer.said()))

      const { rows } = await writtenRows(dataFolder)

      const lost = seen.filter((n) => !rows.has(n))
      assert.deepEqual(lost, [])
      // A row whose acknowledgement was cut off by the kill may be there as well.
      assert.ok(
        rows.size - seen.length <= round + 1,
        `${rows.size} rows, ${seen.length} acknowledged`,
      )
      for (let n = seen.length + 1; rows.has(n); n++) seen.push(n)
    }
  })

  it('of its process: does not run on alone', { skip: process.platform !== 'linux' }, async (t) => {
    const dataFolder = await temporaryFolder(t)
    const writer = startWriter(t, [dataFolder])
    await writer.until('5')
    const pidFile = join(dataFolder, 'pg/data/postmaster.pid')
    assert.ok(existsSync(pidFile))

    writer.kill('SIGKILL')
    await writer.ended

    await waitFor(() => !existsSync(pidFile), 20)
  })

  it('of both: recovers, and every acknowledged row is there', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const writer = startWriter(t, [dataFolder])
    await writer.until('200')
    const server = Number.parseInt(
      await readFile(join(dataFolder, 'pg/data/postmaster.pid'), 'utf8'),
      10,
    )
    process.kill(server, 'SIGKILL')
    writer.kill('SIGKILL')
    await writer.ended
    const seen = acknowledged(writer.said())

    const { rows } = await writtenRows(dataFolder)

    assert.ok(seen.length >= 200)
    assert.deepEqual(
      seen.filter((n) => !rows.has(n)),
      [],
    )
  })

  it('is not mistaken for another program that has its process number now', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await (await startEmbedded({ dataFolder, fsync: false })).stop()
    await writeFile(
      join(dataFolder, 'pg/data/postmaster.pid'),
      `${process.ppid}\n${join(dataFolder, 'pg/data')}\n0\n5432\n`,
    )

    await using server = await startEmbedded({ dataFolder, fsync: false })

    const db = connect(server.address('memory', 'app'), ONE)
    assert.deepEqual([...(await db`select 1 as one`)], [{ one: 1 }])
    await db.end()
  })
})
