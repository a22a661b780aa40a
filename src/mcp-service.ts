import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { Hono } from 'hono'
import type { Log } from '#lib/log.ts'
import { mcpHttp } from '#mcp/http.ts'
import { MEMORY_TOOLBOX } from '#mcp/memory/toolbox.ts'
import { createToolServer } from '#mcp/server.ts'
import { serveStdio } from '#mcp/stdio.ts'
import type { Config } from './config.ts'

function serverFor(config: Config, log: Log, token: string) {
  const { CB_MCP_MEMORY_URL: url, CB_MCP_NAMESPACE: namespace } = config
  return createToolServer(MEMORY_TOOLBOX, { client: { url, token }, namespace }, log)
}

/** The tools of memory over HTTP: each caller works with the credential it shows. */
export function mcpApp(config: Config, log: Log): Hono {
  return mcpHttp({
    serverFor: (token) => serverFor(config, log, token),
    origins: config.CB_MCP_ORIGINS,
  })
}

/** The tools of memory for one client over a pair of streams, with the key of this machine. */
export async function runMemoryMcp(
  config: Config,
  { log, ...streams }: { log: Log; input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  await serveStdio(serverFor(config, log, await keyOf(config)), streams)
}

/** Empty where there is none: memory may let everybody in. */
async function keyOf(config: Config): Promise<string> {
  const given = config.CB_MCP_API_KEY ?? config.CB_SERVER_API_KEY
  if (given !== undefined) return given
  const path = join(config.STRATA_DATA, 'memory.key')
  return await readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => '',
  )
}
