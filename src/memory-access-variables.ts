import { z } from 'zod'
import { flag, httpUrl, list, seconds, secret } from './config-kinds.ts'

/** Who is let into memory beside its keys, and who decides what they see there. */
export const MEMORY_ACCESS_VARIABLES = {
  CB_SERVER_API_KEYS_PII: list
    .pipe(z.array(secret))
    .describe('Static keys, separated by commas, with full access that see personal data unmasked'),
  CB_POLICY_ENABLED: flag(false).describe(
    'Let a decision point decide what people and agents with access tokens see in memory',
  ),
  CB_POLICY_URL: httpUrl
    .default('http://localhost:8030')
    .describe('Address of that decision point (AuthZEN Authorization API 1.0)'),
  CB_POLICY_API_KEY: secret.optional().describe('Bearer key of that decision point'),
  CB_POLICY_TIMEOUT: seconds(3).describe('Limit of one question to it, in seconds'),
  CB_POLICY_CACHE_TTL: z.coerce
    .number()
    .min(0)
    .max(300)
    .default(5)
    .describe('How long its decision is kept, in seconds'),
  CB_SERVER_TIMING: flag(false).describe(
    'Say in the header Server-Timing how long an answer of memory took',
  ),
} as const satisfies Record<string, z.ZodType>
