import { BREAK_GLASS_USAGE, runBreakGlass } from './break-glass.ts'
import { readConfig } from './config.ts'
import { isConnectionLoss } from '#db/connection-loss.ts'
import { createMetrics } from '#observe/metrics.ts'
import { StartError } from '#lib/start-error.ts'
import { openLog } from './open-log.ts'
import { openTracing } from './open-tracing.ts'
import type { Log } from '#lib/log.ts'
import { ROLES, runRole } from './roles.ts'
import type { Role } from './roles.ts'

// The entry point of the server program: node src/main.ts <role>, or break-glass
const [command = 'all', ...words] = process.argv.slice(2)
const role = ROLES.find((name) => name === command)
const isEmergency = command === 'break-glass'
const isMcp = command === 'memory' && words.join(' ') === 'mcp'
const isHelp = command === 'help' || process.argv.some((one) => one === '--help' || one === '-h')
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
// When a connection ends while it is being made, the driver leaves a promise of its own to nobody.
process.on('unhandledRejection', (error) => {
  if (!isConnectionLoss(error)) throw error
})
// Whoever read what we say may go away; that is no reason to leave the database behind.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})

function say(message: string): void {
  process.stderr.write(`${message}\n`)
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

const DOES: Readonly<Record<Role, string>> = {
  all: 'everything in one process, with a database of its own unless one is named (the default)',
  api: 'the HTTP API of the control plane',
  adapter: 'delivers the journal to memory',
  worker: 'ends leases that are over, cleans up',
  memory: 'the memory service',
  mcp: 'the tools of memory for models, over HTTP (MCP)',
  policy: 'a decision point over the Cedar policies of a folder',
  migrate: 'brings the databases that are named to the current schema, then ends',
}

const HELP = `Usage: strata [role]
       strata memory mcp
       strata ${BREAK_GLASS_USAGE}

${ROLES.map((name) => `  ${name.padEnd(13)}${DOES[name]}`).join('\n')}
  memory mcp   the same tools for one client, over stdin and stdout
  break-glass  prints an admin key for an emergency, valid for a few hours

Settings are environment variables: docs/configuration.md names them all.
Data lies in STRATA_DATA (./.strata). Ctrl-C stops everything.
`

/** Answers a question about usage, helps in an emergency, or runs the role. */
async function main(): Promise<void> {
  if (isHelp) {
    process.stdout.write(HELP)
    return
  }
  if (!isEmergency && !isMcp && (!role || words.length > 0)) {
    const what = role ? `role ${role} takes no arguments` : `there is no role "${command}"`
    throw new StartError(`Cannot start: ${what}; "strata --help" lists ${ROLES.join(', ')}`)
  }
  const config = readConfig(process.env)
  let log: Log | undefined
  await using tracing = await openTracing(config, command, (reason) =>
    log?.warn('Traces cannot be sent', { reason }),
  )
  // What speaks MCP over its streams says nothing else there.
  log = openLog(config, isMcp ? process.stderr : process.stdout, tracing.ids)
  if (isMcp) {
    const { runMemoryMcp } = await import('./mcp-service.ts')
    const { stdin: input, stdout: output } = process
    await runMemoryMcp(config, { log, input, output, signal: stop.signal })
    process.stdin.destroy()
    return
  }
  if (isEmergency) await runBreakGlass(config, words, { print, say })
  if (role) {
    const metrics = createMetrics()
    await runRole(role, { config, log, say, metrics, tracing, signal: stop.signal })
  }
}

try {
  await main()
} catch (error) {
  if (!(error instanceof StartError)) throw error
  process.exitCode = 2
  // Not left to the event loop: the driver may still be trying to reach a database that is none.
  process.stderr.write(`strata: ${error.message}\n`, () => process.exit())
}
