import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Hono } from 'hono'
import type { Context } from 'hono'

export interface McpHttp {
  /** A server for one request, over what its credential may do; the empty text is none. */
  serverFor: (token: string) => McpServer
  /** Origins whose pages may call; pages of others are refused, programs send none. */
  origins: readonly string[]
}

const MAX_BODY_BYTES = 4 * 1024 * 1024
const TOKEN = /^Bearer +([\x21-\x7e]{1,4096}) *$/i

/**
 * The streamable HTTP transport without sessions: each request stands alone with the credential it carries, so
 * any replica answers any request. A page of an unknown origin is refused, else a browser could be led to call
 * what only its machine reaches.
 */
export function mcpHttp({ serverFor, origins }: McpHttp): Hono {
  const app = new Hono()
  app.get('/health/live', (c) => c.json({ status: 'ok' }))
  app.post('/mcp', async (c) => {
    const origin = c.req.header('origin')
    if (origin !== undefined && !origins.includes(origin)) {
      return refusal(c, 403, 'Pages of this origin may not call')
    }
    const authorization = c.req.header('authorization')
    const token = TOKEN.exec(authorization ?? '')?.[1]
    if (authorization !== undefined && token === undefined) {
      c.header('WWW-Authenticate', 'Bearer')
      return refusal(c, 401, 'The credential is not a bearer credential')
    }
    const server = serverFor(token ?? '')
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
      maxRequestBodySize: MAX_BODY_BYTES,
    })
    await server.connect(transport)
    try {
      return await transport.handleRequest(c.req.raw)
    } finally {
      await server.close()
    }
  })
  // Without sessions there is no stream to listen to and none to end.
  app.all('/mcp', (c) => {
    c.header('Allow', 'POST')
    return refusal(c, 405, 'Only POST is served')
  })
  return app
}

function refusal(c: Context, status: 401 | 403 | 405, message: string) {
  return c.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, status)
}
