import { z } from 'zod'
import { flag, httpUrl, seconds } from './config-kinds.ts'

/** The language model that may put answers of memory into words; nothing else needs one. */
export const LLM_VARIABLES = {
  CB_LLM_PROVIDER: z
    .enum(['none', 'http', 'echo'])
    .default('none')
    .describe(
      'Who puts answers of memory into words: nobody, an HTTP server, or an echo for trials',
    ),
  CB_LLM_URL: httpUrl
    .optional()
    .describe('Base address of an API of chats as OpenAI began it, such as that of a local server'),
  CB_LLM_MODEL: z.string().min(1).max(256).optional().describe('Name of the model there'),
  CB_LLM_API_KEY: z.string().min(1).max(4096).optional().describe('Credential for it'),
  CB_LLM_TIMEOUT_SECONDS: seconds(25).describe('Longest wait for its answer'),
  CB_QUERY_SYNTHESIZE_DEFAULT: flag(false).describe(
    'Whether a question is answered in words unless it says',
  ),
} as const satisfies Record<string, z.ZodType>
