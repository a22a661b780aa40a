import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'

/** Largest message, in bytes; a peer that sends more is cut. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024

/** Serves one client over a pair of streams until it ends its side or the signal aborts. */
export async function serveStdio(
  server: McpServer,
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<void> {
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_MESSAGE_BYTES })
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  server.server.onclose = resolve
  input.once('end', resolve)
  input.once('close', resolve)
  signal.addEventListener('abort', () => resolve(), { once: true })
  await server.connect(transport)
  if (!signal.aborted) await ended
  await server.close()
}
