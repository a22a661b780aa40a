import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import type { Log } from '#lib/log.ts'
import { failureOf } from './tool.ts'
import type { Tool } from './tool.ts'

/** A set of tools that one server offers. */
export interface Toolbox<B> {
  name: string
  version: string
  /** Told to the model once, before any tool is called. */
  instructions: string
  tools: readonly Tool<B>[]
  /** What to do about a refusal, by its code. */
  hints: Readonly<Record<string, string>>
}

/** Longest answer of a tool, in characters; what is beyond is cut, and said to be. */
const MAX_ANSWER_CHARS = 200_000

/**
 * A server that offers the tools over a backend, ready to be connected to a transport; one for each
 * connection. A tool that fails is an answer with `isError` and what to do about it, so that the model
 * reads it; only a broken message is an error of the protocol.
 */
export function createToolServer<B>(
  { name, version, instructions, tools, hints }: Toolbox<B>,
  backend: B,
  log: Pick<Log, 'error'>,
): McpServer {
  const server = new McpServer({ name, version }, { instructions })
  for (const { name: toolName, title, description, input, readOnly, run } of tools) {
    const annotations = {
      readOnlyHint: readOnly,
      destructiveHint: false,
      idempotentHint: readOnly,
      openWorldHint: false,
    }
    const config = { title, description, inputSchema: input, annotations }
    server.registerTool(toolName, config, async (given: unknown, { signal }) => {
      try {
        return answer(await run(backend, given, signal))
      } catch (error) {
        const failure = failureOf(error, hints)
        if (failure.error === 'internal_error') log.error('Tool failed', error, { tool: toolName })
        return { ...answer(JSON.stringify(failure, null, 2)), isError: true }
      }
    })
  }
  return server
}

function answer(text: string) {
  const cut = text.length > MAX_ANSWER_CHARS
  const whole = cut ? `${text.slice(0, MAX_ANSWER_CHARS)}\n[the answer was cut here]` : text
  return { content: [{ type: 'text' as const, text: whole }] }
}
