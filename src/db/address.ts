import { StartError } from '#lib/start-error.ts'
import type { DatabaseAddress } from './sql.ts'

/** Options of libpq that the driver does not know; it would hand them to the server, which refuses them. */
const UNSUPPORTED = [
  'channel_binding',
  'gssencmode',
  'hostaddr',
  'krbsrvname',
  'passfile',
  'requirepeer',
  'service',
  'sslcert',
  'sslcrl',
  'sslkey',
  'sslpassword',
] as const

/** What a URL says beside its own address, in the driver's names. */
export interface UrlOverrides {
  host?: string
  port?: number
  user?: string
  password?: string
  database?: string
  /** Seconds. */
  connect_timeout?: number
}

/**
 * Splits a database URL into the part the driver reads and the libpq parameters that it would ignore
 * (`?host=/run/postgresql`, `port`, `user`, `password`, `dbname`), which win over the URL's own address as
 * they do in libpq. Throws a StartError, which never shows the URL, for anything the driver cannot honour.
 */
export function readDatabaseUrl(text: string): { url: string; overrides: UrlOverrides } {
  const [address = '', queryText = ''] = text.split(/\?(.*)/s)
  if (!/^postgres(ql)?:\/\//.test(address)) {
    throw refused('it must look like postgres://user:password@host:5432/database')
  }
  const query = new URLSearchParams(queryText)
  for (const name of UNSUPPORTED) {
    if (query.has(name)) throw refused(`"${name}" is not supported in it; leave it out`)
  }
  const overrides = takeOverrides(query)
  const rest = query.toString()
  return { url: rest === '' ? address : `${address}?${rest}`, overrides }
}

function takeOverrides(query: URLSearchParams): UrlOverrides {
  const overrides: UrlOverrides = {}
  const host = take(query, 'host')
  if (host !== undefined) overrides.host = checkHost(host)
  const port = take(query, 'port')
  if (port !== undefined) overrides.port = checkPort(port)
  const user = take(query, 'user')
  if (user !== undefined) overrides.user = user
  const password = take(query, 'password')
  if (password !== undefined) overrides.password = password
  const database = take(query, 'dbname')
  if (database !== undefined) overrides.database = database
  const timeout = take(query, 'connect_timeout')
  if (timeout !== undefined) overrides.connect_timeout = checkSeconds(timeout)
  return overrides
}

/** The URL that says the same to another process. */
export function databaseUrl(address: DatabaseAddress): string {
  if ('url' in address) return address.url
  const { socket, port, user, password, database } = address
  const query = new URLSearchParams({ host: socket, port: String(port) })
  return `postgres://${user}:${encodeURIComponent(password)}@localhost/${database}?${query.toString()}`
}

export function refused(why: string): StartError {
  return new StartError(`Cannot use the database URL: ${why}`)
}

function take(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  if (values.length > 1) throw refused(`"${name}" is given twice`)
  query.delete(name)
  return values[0]
}

function checkHost(host: string): string {
  const folder = host.startsWith('/')
  if (host === '' || host.includes(',') || (!folder && host.includes('/'))) {
    throw refused('"host" in it must be one host name or the full path of a socket folder')
  }
  return host
}

function checkSeconds(text: string): number {
  const seconds = Number(text)
  if (!/^\d{1,4}$/.test(text) || seconds < 1) {
    throw refused('"connect_timeout" in it must be a number of seconds, at least 1')
  }
  return seconds
}

function checkPort(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw refused('"port" in it must be a number from 1 to 65535')
  }
  return port
}
