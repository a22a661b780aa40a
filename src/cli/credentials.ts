import { resolve, join } from 'node:path'
import { z } from 'zod'
import { CliError } from './cli-error.ts'
import type { Io } from './io.ts'
import { readPrivate, writePrivate } from './private-file.ts'
import { DEFAULT_SERVER, isLoopback } from './server.ts'
import type { Server } from './server.ts'

export interface Credential {
  readonly key: string
  readonly from: 'environment' | 'login' | 'local'
  /** Where it was found, in words. */
  readonly found: string
}

const Stored = z.strictObject({
  /** One key for each server, by origin. */
  servers: z.record(z.string(), z.strictObject({ apiKey: z.string() })),
})
type Stored = z.infer<typeof Stored>

/**
 * The credential for a server: `CONTROL_PLANE_API_KEY`, then what `login` stored for just this server,
 * then, for the default server on this machine, the key that it wrote into its data folder.
 *
 * Throws `CliError` when a file with a key may be read by others, and when the variable would go to a
 * server on another machine that only a file of the repository named: whoever wrote that file would get
 * the key.
 */
export async function findCredential(io: Io, server: Server): Promise<Credential | undefined> {
  const variable = io.env['CONTROL_PLANE_API_KEY']
  if (variable) {
    requireChosen(server, 'CONTROL_PLANE_API_KEY')
    const found = 'CONTROL_PLANE_API_KEY'
    return { key: checkKey(variable, found), from: 'environment', found }
  }
  const file = credentialsFile(io)
  const stored = (await readStored(file)).servers[server.origin]
  if (stored) return { key: checkKey(stored.apiKey, file), from: 'login', found: file }
  if (server.origin !== DEFAULT_SERVER) return undefined
  const local = resolve(io.cwd, io.env['STRATA_DATA'] || '.strata', 'admin.key')
  const key = await readPrivate(local)
  return key === undefined ? undefined : { key: checkKey(key, local), from: 'local', found: local }
}

/** Throws `CliError` when nobody but a file of the repository chose a server on another machine. */
export function requireChosen({ from, origin, named }: Server, what: string): void {
  if (from !== 'file' || isLoopback(origin)) return
  throw new CliError(`Cannot send ${what} to ${origin}: only ${named} names this server`, {
    hint: `say that you mean it: --server ${origin}, or CONTROL_PLANE_SERVER=${origin}`,
  })
}

export async function storeCredential(io: Io, server: Server, key: string): Promise<string> {
  const file = credentialsFile(io)
  const { servers } = await readStored(file)
  await writeStored(file, { servers: { ...servers, [server.origin]: { apiKey: key } } })
  return file
}

/** Answers whether there was one. */
export async function removeCredential(io: Io, server: Server): Promise<boolean> {
  const file = credentialsFile(io)
  const { servers } = await readStored(file)
  const { [server.origin]: removed, ...others } = servers
  if (removed === undefined) return false
  await writeStored(file, { servers: others })
  return true
}

/** The key without white space around it. Throws `CliError` for what no header can carry. */
export function checkKey(text: string, found: string): string {
  const key = text.trim()
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key
  throw new CliError(
    `Cannot use the key of ${found}: it is empty or not one line of plain characters`,
  )
}

/** Beside what else belongs to this account. */
export function accountFolder({ home }: Io): string {
  return join(home, '.config', 'control-plane')
}

function credentialsFile(io: Io): string {
  return join(accountFolder(io), 'credentials.json')
}

async function readStored(file: string): Promise<Stored> {
  const text = await readPrivate(file)
  if (text === undefined) return { servers: {} }
  try {
    return Stored.parse(JSON.parse(text))
  } catch (cause) {
    throw new CliError(`Cannot read ${file}: it is not what login wrote`, {
      hint: 'remove it and log in again',
      cause,
    })
  }
}

async function writeStored(file: string, stored: Stored): Promise<void> {
  await writePrivate(file, `${JSON.stringify(stored, undefined, 2)}\n`)
}
