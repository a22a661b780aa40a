import { runBreakGlass } from './break-glass.ts'
import { readConfig } from './config.ts'
import { createMetrics } from '#http/metrics.ts'
import { jsonLog } from '#lib/log.ts'
import { StartError } from '#lib/start-error.ts'
import { ROLES, runRole } from './roles.ts'

// The entry point of the server program: node src/main.ts <role>, or break-glass
const [command = 'all', ...words] = process.argv.slice(2)
const role = ROLES.find((name) => name === command)
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
// Whoever read what we say may go away; that is no reason to leave the database behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

function say(message: string): void {
  process.stderr.write(`${message}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

try {
  const isEmergency = command === 'break-glass'
  if (!isEmergency && (!role || words.length > 0)) {
    const roles = ROLES.join(', ')
    throw new StartError(
      `Cannot start: usage is "strata <role>", a role of ${roles}, or "strata break-glass"`,
    )
  }
  const config = readConfig(process.env)
  const log = jsonLog(
    (line) => process.stdout.write(line),
    () => new Date(),
    config.CP_LOG_LEVEL,
  )
  if (isEmergency) {
    await runBreakGlass(config, words, { print, say })
  }
  if (role) await runRole(role, { config, log, say, metrics: createMetrics(), signal: stop.signal })
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.exitCode = 2
  // Not left to the event loop: the driver may still be trying to reach a database that is none.
  process.stderr.write(`strata: ${error.message}\n`, () => process.exit())
}
