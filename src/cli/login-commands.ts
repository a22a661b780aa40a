import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { call } from '#client/client.ts'
import { getMe } from '#contract/org.ts'
import { CliError, Interrupted } from './cli-error.ts'
import { clientFor } from './cli.ts'
import { command } from './command.ts'
import { checkKey, removeCredential, requireChosen, storeCredential } from './credentials.ts'
import type { Io } from './io.ts'
import { isLoopback } from './server.ts'
import { readInput } from './read-input.ts'

const MAX_KEY_BYTES = 8192

const login = command({
  name: 'login',
  summary: 'Store a key for a server',
  details: [
    'The key is asked for without being shown, or read from standard input; it is never taken from',
    'the command line, where other accounts could see it. It is tried first, then kept in',
    '~/.config/control-plane/credentials.json, readable by you alone, for this server alone.',
  ],
  async run({ io, screen, server }) {
    if (server.origin.startsWith('http:') && !isLoopback(server.origin)) {
      screen.warn(`warning: ${server.origin} is not encrypted; others on the way can read the key`)
    }
    const key = checkKey(
      await readKey(io, server.origin, () => requireChosen(server, 'a key')),
      'login',
    )
    const me = await call(clientFor(server, key), getMe, { signal: io.signal })
    const file = await storeCredential(io, server, key)
    const { principal, tenant } = me
    screen.result({ server: server.origin, file, ...me }, () => {
      screen.line(`Logged in to ${server.origin} as ${principal.displayName} in ${tenant.slug}`)
    })
    if (io.env['CONTROL_PLANE_API_KEY']) {
      screen.warn('warning: CONTROL_PLANE_API_KEY is set and goes before what was stored now')
    }
  },
})

const logout = command({
  name: 'logout',
  summary: 'Forget the key of a server',
  details: ['The key stays valid; "control-plane key revoke" ends it for everybody.'],
  async run({ io, screen, server }) {
    const wasThere = await removeCredential(io, server)
    screen.result({ server: server.origin, removed: wasThere }, () => {
      screen.line(
        wasThere ? `Logged out of ${server.origin}` : `No key was stored for ${server.origin}`,
      )
    })
  },
})

/** A person sees which server the key is for; a pipe does not, so there the server must be chosen. */
async function readKey(io: Io, origin: string, requireChosenServer: () => void): Promise<string> {
  if (io.stdin.isTTY === true) return await readHidden(io, `Key for ${origin}: `)
  requireChosenServer()
  return await readInput(io, MAX_KEY_BYTES)
}

/** One line from a terminal that does not show it. */
export async function readHidden(io: Io, prompt: string): Promise<string> {
  io.stderr.write(prompt)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: io.stdin, output: nowhere, terminal: true })
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  lines.once('SIGINT', () => reject(new Interrupted()))
  lines.once('close', () => reject(new CliError('No key was given')))
  try {
    return await Promise.race([lines.question('', { signal: io.signal }), stopped])
  } finally {
    lines.close()
    io.stderr.write('\n')
  }
}

export const loginCommands = [login, logout]
