// How long a page of the journal takes in journals of different lengths: by the command, and over HTTP.
//   npm run bench:journal -- [--quick] [--rounds N] [--size N] [--json FILE]
// --size is the length of the longest journal.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApi } from './journal/api.ts'
import { pages } from './journal/pages.ts'
import { readArgs } from './kit/args.ts'
import { describeSetting } from './kit/machine.ts'
import { createReport } from './kit/report.ts'
import { startBenchServer } from './kit/server.ts'

const args = readArgs([], { size: 1_000_000, quick: 50_000 })
await using server = await startBenchServer({ anywhere: args.quick })
const report = createReport(args, await describeSetting(server.admin))
const database = await server.controlPlane('journal')
const folder = await mkdtemp(join(tmpdir(), 'strata-bench-api-'))
try {
  await using api = await startApi(database.address, folder)
  await pages({ server, database, api }, report, args)
} finally {
  await rm(folder, { recursive: true, force: true })
}
report.finish()
