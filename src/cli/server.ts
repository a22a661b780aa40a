import { CliError } from './cli-error.ts'
import type { Project } from './project.ts'

export const DEFAULT_SERVER = 'http://127.0.0.1:8000'

export interface Server {
  /** Scheme, host and port. */
  readonly origin: string
  readonly from: 'flag' | 'environment' | 'file' | 'default'
  /** Where it was named, in words. */
  readonly named: string
}

/** Which server to speak to: the flag, the environment, the repository's file, this machine. */
export function chooseServer(
  flag: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  project: Project | undefined,
): Server {
  const variable = env['CONTROL_PLANE_SERVER']
  if (flag !== undefined) return server(flag, 'flag', '--server')
  if (variable) return server(variable, 'environment', 'CONTROL_PLANE_SERVER')
  if (project?.config.server) return server(project.config.server, 'file', project.file)
  return server(DEFAULT_SERVER, 'default', 'the default')
}

function server(text: string, from: Server['from'], named: string): Server {
  return { origin: serverOrigin(text, named), from, named }
}

/** Throws `CliError` for anything but the plain address of a server; it is not echoed, it may hold a secret. */
export function serverOrigin(text: string, named: string): string {
  const url = URL.parse(text.trim())
  const isPlain =
    url !== null &&
    (url.protocol === 'http:' || url.protocol === 'https:') &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '') &&
    url.pathname === '/'
  if (isPlain) return url.origin
  throw new CliError(
    `Cannot use the server address of ${named}: it must look like https://host or http://host:port`,
  )
}

/** True for addresses that never leave this machine. */
export function isLoopback(origin: string): boolean {
  const { hostname } = new URL(origin)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
