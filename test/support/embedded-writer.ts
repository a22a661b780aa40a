// usage: node test/support/embedded-writer.ts DATA_FOLDER [rows]
// Starts the embedded PostgreSQL, says "ready", then writes rows and says the number of each one that is
// committed, until it has written so many or is killed.
import { connect } from '#db/sql.ts'
import { startEmbedded } from '#db/embedded/start.ts'

const [folder = '', rows = 'endless'] = process.argv.slice(2)
try {
  await using embedded = await startEmbedded({ dataFolder: folder })
  const options = { maxConnections: 1, appName: 'embedded-writer' }
  const owner = connect(embedded.address('memory', 'owner'), options)
  await owner`create table if not exists written (n int primary key)`
  await owner.end()
  const app = connect(embedded.address('memory', 'app'), options)
  process.stdout.write('ready\n')
  const [last] = await app<{ n: number }[]>`select coalesce(max(n), 0) as n from written`
  const first = (last?.n ?? 0) + 1
  const end = rows === 'endless' ? Number.MAX_SAFE_INTEGER : first + Number(rows)
  for (let n = first; n < end; n++) {
    await app`insert into written (n) values (${n})`
    process.stdout.write(`${n}\n`)
  }
  await app.end()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? `${error.name}: ${error.message}` : 'failed'}\n`)
  process.exitCode = 2
}
