// Serves the memory API over a database in a process of its own, as a user would run it; the first line it
// prints is its address. Asked by a message, it tells what it takes.
//   node bench/memory/serve.ts '<address as JSON>' '<settings as JSON>'
import { jsonLog } from '#lib/log.ts'
import { connect } from '#db/sql.ts'
import type { DatabaseAddress } from '#db/sql.ts'
import { createMemoryApp } from '#memory/app.ts'
import type { MemorySettings } from '#memory/serve-memory.ts'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { listen } from '../../src/listen.ts'

const [address = '', settings = ''] = process.argv.slice(2)
const db = connect(JSON.parse(address) as DatabaseAddress, {
  maxConnections: 10,
  appName: 'strata-memory',
})
const log = jsonLog(
  (line) => process.stderr.write(line),
  () => new Date(),
)
const app = createMemoryApp({ db, log, settings: JSON.parse(settings) as MemorySettings })
const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'none' })
const loop = monitorEventLoopDelay({ resolution: 1 })
loop.enable()
process.send?.({ url: server.url })
process.on('message', (message) => {
  if (message === 'stop') {
    void server[Symbol.asyncDispose]().then(async () => {
      await db.end({ timeout: 1 })
      process.exit(0)
    })
    return
  }
  const { rss } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  process.send?.({ rss, cpu: (user + system) / 1e6, longestPauseMs: loop.max / 1e6 })
  loop.reset()
})
