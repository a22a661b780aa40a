import { parseArgs } from 'node:util'
import { connect, transaction } from '#db/sql.ts'
import type { DatabaseAddress } from '#db/sql.ts'
import { findRunning } from '#db/embedded/join.ts'
import { isUuid } from '#lib/id.ts'
import { reason as reasonOf, StartError } from '#lib/start-error.ts'
import { breakGlass } from '#org/break-glass.ts'
import type { Emergency } from '#org/break-glass.ts'
import type { Config } from './config.ts'

export const BREAK_GLASS_USAGE =
  'break-glass --reason TEXT [--ttl SECONDS] [--tenant SLUG] [--principal ID]'
const USAGE = `usage is "strata ${BREAK_GLASS_USAGE}"`

/**
 * `strata break-glass`: prints an admin key for a few hours, alone on one line of the standard output, so
 * that it can be piped. Works while the servers run and while they do not answer, as long as the database
 * does. Throws `StartError`.
 */
export async function runBreakGlass(
  config: Config,
  argv: readonly string[],
  out: { print: (line: string) => void; say: (message: string) => void },
): Promise<void> {
  const emergency = readEmergency(config, argv)
  const db = connect(await addressOf(config), { maxConnections: 1, appName: 'strata-break-glass' })
  try {
    const { key, expiresAt } = await transaction(db, 'read write', (sql) =>
      breakGlass(sql, emergency),
    )
    out.say(`A key for an emergency, valid until ${expiresAt?.toISOString()}; it is in the journal`)
    out.print(key)
  } finally {
    await db.end({ timeout: 5 })
  }
}

function readEmergency(config: Config, argv: readonly string[]): Emergency {
  if (!config.CP_BREAK_GLASS_ENABLED) throw refused('CP_BREAK_GLASS_ENABLED is false')
  const { reason = '', ttl, tenant, principal } = parse(argv)
  if (!/\S/.test(reason) || reason.length > 500) {
    throw refused(`--reason must be 1 to 500 characters; ${USAGE}`)
  }
  const max = config.CP_BREAK_GLASS_MAX_TTL_SECONDS
  const ttlSeconds = ttl === undefined ? max : Number(ttl)
  if (!Number.isInteger(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > max) {
    throw refused(`--ttl must be a whole number of seconds from 1 to ${max}`)
  }
  if (principal !== undefined && !isUuid(principal)) throw refused('--principal must be an id')
  return { reason, ttlSeconds, tenant, principalId: principal }
}

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    const options = { reason: text, ttl: text, tenant: text, principal: text }
    return parseArgs({ args: [...argv], options, allowPositionals: false }).values
  } catch (error) {
    throw refused(`${reasonOf(error)}; ${USAGE}`)
  }
}

async function addressOf(config: Config): Promise<DatabaseAddress> {
  if (config.CP_DATABASE_URL !== undefined) return { url: config.CP_DATABASE_URL }
  const running = await findRunning(config.STRATA_DATA, 'control_plane')
  if (running) return running
  throw refused('no database is running in STRATA_DATA; start "strata all", or set CP_DATABASE_URL')
}

function refused(why: string): StartError {
  return new StartError(`Cannot make a break-glass key: ${why}`)
}
