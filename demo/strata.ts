import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { call } from '#client/client.ts'
import { bootstrap } from '#contract/org.ts'
import { databaseUrl } from '#db/address.ts'
import { startEmbedded } from '#db/embedded/start.ts'
import { newId } from '#lib/id.ts'

const ROOT = join(import.meta.dirname, '..')
const START_MS = 60_000

/** A running Strata; `await using` stops every process of it. */
export interface Strata extends AsyncDisposable {
  url: string
  adminKey: string
}

/** The same with its memory service, which can be asked directly. */
export interface StrataWithMemory extends Strata {
  memory: { url: string; key: string }
}

/**
 * Everything in one process, as `npm start` runs it, on free ports and a folder of its own; `settings`
 * are further variables of its environment.
 */
export async function startAll(
  dataFolder: string,
  settings: Record<string, string> = {},
): Promise<StrataWithMemory> {
  const own = { STRATA_DATA: dataFolder, CP_PORT: '0', CB_SERVER_PORT: '0' }
  const all = await startRole('all', { ...own, ...settings })
  const key = async (name: string) => (await readFile(join(dataFolder, name), 'utf8')).trim()
  return {
    url: all.url,
    adminKey: await key('admin.key'),
    memory: { url: all.memoryUrl, key: await key('memory.key') },
    [Symbol.asyncDispose]: all.stop,
  }
}

/** The same as separate processes over one database server. */
export async function startRoles(dataFolder: string): Promise<Strata> {
  const server = await startEmbedded({ dataFolder })
  const stops = [server.stop]
  const stop = async () => {
    for (const each of stops.toReversed()) await each()
  }
  try {
    const urls = (role: 'owner' | 'app') => ({
      CP_DATABASE_URL: databaseUrl(server.address('control_plane', role)),
      CB_DATABASE_URL: databaseUrl(server.address('memory', role)),
    })
    await runToEnd('migrate', urls('owner'))
    const key = `demo_${newId()}`
    const memory = await startRole('memory', {
      ...urls('app'),
      CB_SERVER_PORT: '0',
      CB_SERVER_API_KEY: key,
    })
    stops.push(memory.stop)
    const settings = {
      ...urls('app'),
      CP_PORT: '0',
      CP_BOOTSTRAP_TOKEN: key,
      CP_CONTEXT_PROVIDER: 'http',
      CP_CONTEXT_BASE_URL: memory.url,
      CP_CONTEXT_API_KEY: key,
    }
    const api = await startRole('api', settings)
    stops.push(api.stop)
    for (const role of ['worker', 'adapter']) stops.push((await startRole(role, settings)).stop)
    const made = await call({ url: api.url, token: key }, bootstrap, {
      body: { slug: 'demo', name: 'Demo' },
    })
    return { url: api.url, adminKey: made.apiKey.key ?? '', [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function spawnRole(role: string, env: Record<string, string>): ChildProcess {
  return spawn(process.execPath, [join(ROOT, 'bin/strata.mjs'), role], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

async function runToEnd(role: string, env: Record<string, string>): Promise<void> {
  const child = spawnRole(role, env)
  const [code] = (await once(child, 'exit')) as [number | null]
  if (code !== 0) throw new Error(`Cannot run role "${role}": it ended with ${code}`)
}

/** Resolves once the role says that it is ready; what it says before that is shown on failure. */
export async function startRole(role: string, env: Record<string, string>) {
  const child = spawnRole(role, env)
  const ended = once(child, 'exit')
  const said: string[] = []
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const late = setTimeout(() => child.kill('SIGKILL'), START_MS)
  try {
    if (!child.stderr) throw new Error(`Cannot hear role "${role}"`)
    for await (const line of createInterface({ input: child.stderr })) {
      said.push(line)
      const ready = / is ready(?: at (\S+))?/.exec(line)
      if (!ready) continue
      child.stderr.resume()
      const memoryUrl = /memory at (\S+)/.exec(line)?.[1] ?? ''
      return { url: ready[1] ?? '', memoryUrl, stop }
    }
    throw new Error(`Cannot start role "${role}":\n${said.join('\n')}`)
  } finally {
    clearTimeout(late)
  }
}
