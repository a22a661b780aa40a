import { createHash } from 'node:crypto'
import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import { CliError } from './cli-error.ts'
import { findCredential } from './credentials.ts'
import type { Credential } from './credentials.ts'
import type { Io } from './io.ts'
import { findProject } from './project.ts'
import type { Project } from './project.ts'
import type { Screen } from './screen.ts'
import { chooseServer, DEFAULT_SERVER } from './server.ts'
import type { Server } from './server.ts'

/** What a command works with. */
export interface Cli {
  readonly io: Io
  readonly screen: Screen
  /** Of this repository; undefined where `init` has not been. */
  readonly project: Project | undefined
  readonly server: Server
  /** Looked for when it is first asked for. */
  readonly credential: () => Promise<Credential | undefined>
  /** The credential that calls were made with; undefined before the first. */
  readonly used: () => Credential | undefined
  /** Calls the server with the credential. Throws `CliError` when there is none. */
  readonly call: <R extends Route>(route: R, input?: CallInput<R>) => Promise<RouteReply<R>>
  /** For code that calls by itself. Throws `CliError` when there is no credential. */
  readonly client: () => Promise<ClientOptions>
  /** The same for answers that have no end: nothing limits how long they take. */
  readonly streamClient: () => Promise<ClientOptions>
}

/** The longest wait for one answer; only large snapshots take more than a few seconds. */
const TIMEOUT_MS = 120_000

/** Finds the server; throws `CliError` when it cannot be used as it is named. */
export async function createCli(
  io: Io,
  screen: Screen,
  serverFlag: string | undefined,
): Promise<Cli> {
  const project = await findProject(io.cwd, io.home)
  const server = chooseServer(serverFlag, io.env, project)
  let found: Promise<Credential | undefined> | undefined
  let used: Credential | undefined
  const credential = () => (found ??= findCredential(io, server))
  const key = async () => {
    const usable = await credential()
    if (usable === undefined) throw missingCredential(server)
    used = usable
    return usable.key
  }
  const client = async () => clientFor(server, await key())
  return {
    io,
    screen,
    project,
    server,
    credential,
    used: () => used,
    client,
    streamClient: async () => ({
      url: server.origin,
      token: await key(),
      fetch: (input, init) => fetch(input, { ...init, redirect: 'error' }),
    }),
    call: async (route, input = {}) =>
      await call(await client(), route, { signal: io.signal, ...input }),
  }
}

/** A client that sends this key to this server and nowhere else: redirections are not followed. */
export function clientFor({ origin }: Server, key: string): ClientOptions {
  return {
    url: origin,
    token: key,
    fetch: async (input, init) => {
      const timeout = AbortSignal.timeout(TIMEOUT_MS)
      const signal = init?.signal ? AbortSignal.any([init.signal, timeout]) : timeout
      return await fetch(input, { ...init, signal, redirect: 'error' })
    },
  }
}

/** Tells what one credential left on this machine from what another did; not the key, and no way to it. */
export async function holderId({ server, client }: Cli): Promise<string> {
  const { token } = await client()
  const hash = createHash('sha256').update(`${server.origin}\0${token}`)
  return hash.digest('hex').slice(0, 16)
}

function missingCredential({ origin }: Server): CliError {
  const local =
    origin === DEFAULT_SERVER
      ? '; a server started here has its first key in .strata/admin.key (see STRATA_DATA)'
      : ''
  return new CliError(`Cannot call ${origin}: no credential is known for it`, {
    hint: `log in with "control-plane login --server ${origin}" or set CONTROL_PLANE_API_KEY${local}`,
  })
}
