import { z } from 'zod'
import { httpUrl, list, port, secret } from './config-kinds.ts'

/** Memory as tools of a model: role mcp, and `strata memory mcp`. */
export const MCP_VARIABLES = {
  CB_MCP_HOST: z.string().default('127.0.0.1').describe('Address that role mcp listens on'),
  CB_MCP_PORT: port(8078).describe('Port of role mcp; 0 picks a free one'),
  CB_MCP_MEMORY_URL: httpUrl
    .default('http://localhost:8077')
    .describe('Memory that the tools of MCP work on'),
  CB_MCP_API_KEY: secret
    .optional()
    .describe(
      'Key of `strata memory mcp` (CB_SERVER_API_KEY, or the file memory.key in STRATA_DATA); role mcp hands on what callers show',
    ),
  CB_MCP_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._:-]{0,199}$/)
    .optional()
    .describe('Namespace of tools that name none; unset, memory says'),
  CB_MCP_ORIGINS: list.describe(
    'Origins, separated by commas, whose pages may call role mcp; programs send none',
  ),
} as const satisfies Record<string, z.ZodType>
