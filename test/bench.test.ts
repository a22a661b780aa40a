import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { promisify } from 'node:util'

interface Document {
  setting: Record<string, string>
  tables: { title: string; columns: string[]; rows: string[][] }[]
  targets: { name: string; value: number; met: boolean }[]
}

async function measure(name: string, ...args: string[]): Promise<Document> {
  const program = join(import.meta.dirname, `../bench/${name}.ts`)
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    '--quick',
    '--json',
    '-',
    ...args,
  ])
  return JSON.parse(stdout) as Document
}

it('the measurements say where they were taken, and measure everything they have a target for', async () => {
  const documents = await Promise.all([
    measure('claims', 'start', 'loop', 'growth'),
    measure('journal', '--size', '25000'),
  ])
  for (const { setting, tables, targets } of documents) {
    assert.match(setting['postgresql'] ?? '', /^\d+.*fsync on, synchronous_commit on$/)
    assert.ok(Number.isFinite(Date.parse(setting['date'] ?? '')))
    assert.ok(
      tables.every(({ columns, rows }) => rows.every((row) => row.length === columns.length)),
    )
    assert.deepEqual(
      targets.filter(({ value }) => !Number.isFinite(value) || value <= 0),
      [],
    )
  }
  const [claims, journal] = documents
  assert.equal(claims?.targets.length, 8)
  assert.equal(journal?.targets.length, 4)
})
