import { z } from 'zod'
import { count, flag, httpUrl, port, seconds, secret } from './config-kinds.ts'

/** Who is let in, and who decides what they may. */
export const IDENTITY_VARIABLES = {
  CP_LEGACY_API_KEYS_ENABLED: flag(true).describe('Accept local keys (cp_...)'),
  CP_BREAK_GLASS_ENABLED: flag(true).describe(
    'Accept keys made from the shell of the host for an emergency (cp_bg...)',
  ),
  CP_BREAK_GLASS_MAX_TTL_SECONDS: count(14_400, 86_400).describe('Longest life of such a key'),
  CP_IAM_ENABLED: flag(false).describe('Accept access tokens of an OpenID Connect issuer'),
  CP_IAM_ISSUER: httpUrl.optional().describe('The issuer, exactly as in its tokens'),
  CP_IAM_JWKS_URL: httpUrl
    .optional()
    .describe('Its keys; unset, its discovery document says where'),
  CP_IAM_AUDIENCE: z
    .string()
    .min(1)
    .default('control-plane')
    .describe('Audience that a token must be for'),
  CP_IAM_TOKEN_URL: httpUrl
    .optional()
    .describe('Where it gives tokens; unset, its discovery document says where'),
  CP_IAM_CLIENT_ID: z
    .string()
    .min(1)
    .optional()
    .describe('The control plane as a client of the issuer, to get tokens for memory'),
  CP_IAM_CLIENT_SECRET: secret.optional().describe('Secret of that client'),
  CP_IAM_LEEWAY_SECONDS: z.coerce
    .number()
    .min(0)
    .max(300)
    .default(5)
    .describe('How far the clock of the issuer may be off'),
  CP_IAM_BINDING_CACHE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(3600)
    .default(30)
    .describe('How long a binding is believed without looking'),
  CP_IAM_BINDING_STALE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(3600)
    .default(120)
    .describe('How long it is believed while the database does not answer'),
  CP_AUTHZ_MODE: z
    .enum(['local', 'shadow', 'policy'])
    .default('local')
    .describe(
      'Who decides for access tokens: the binding (local), the binding while a decision point is asked beside it (shadow), the decision point (policy)',
    ),
  CP_POLICY_BASE_URL: httpUrl
    .default('http://localhost:8030')
    .describe('Address of the decision point (AuthZEN Authorization API 1.0)'),
  CP_POLICY_API_KEY: secret.optional().describe('Bearer key of the decision point'),
  CP_POLICY_TIMEOUT_SECONDS: seconds(3).describe('Limit of one question to the decision point'),
  CP_POLICY_CACHE_SECONDS: z.coerce
    .number()
    .min(0)
    .max(300)
    .default(5)
    .describe('How long a decision is kept'),
  CP_POLICY_FOLDER: z
    .string()
    .min(1)
    .optional()
    .describe('Folder of *.cedar files and entities.json for role policy'),
  CP_POLICY_HOST: z.string().default('127.0.0.1').describe('Address that role policy listens on'),
  CP_POLICY_PORT: port(8030).describe('Port of role policy; 0 picks a free one'),
} as const satisfies Record<string, z.ZodType>
