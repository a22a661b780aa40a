import { z } from 'zod'
import { spendingBounds } from './budgets.ts'
import { coded } from './common.ts'
import { Priority } from './tasks.ts'

/** How far an agent may go without a person, the strictest first. */
export const AUTONOMY_LEVELS = ['supervised', 'assisted', 'autonomous'] as const

/** From where a project's work may be told what memory holds, the strictest first. */
export const MEMORY_SHARING = ['none', 'project', 'ancestors'] as const

const Protocol = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, 'must be the name of a protocol')

function unique(list: readonly string[]): boolean {
  return new Set(list).size === list.length
}

const Bound = z.int().min(1).max(2_147_483_647).nullable()

const governance = {
  maxAutonomyLevel: z.enum(AUTONOMY_LEVELS),
  requireApprovalForRun: z.boolean(),
  requireApprovalForCompletion: z.boolean(),
  /** Null: any. */
  allowedTaskPriorities: z.array(Priority).max(4).refine(unique, 'must not repeat').nullable(),
  /** Null: any. */
  allowedSkillProtocols: z.array(Protocol).max(50).refine(unique, 'must not repeat').nullable(),
  /** Null: without a bound. */
  maxRunDurationSeconds: Bound,
  maxRunActions: Bound,
  /** Over the project and everything below it; 0 stops new runs. */
  maxConcurrentRuns: z.int().min(0).max(2_147_483_647).nullable(),
  /** Those over all runs together hold for the project and everything below it. */
  ...spendingBounds,
  memoryScopeSharing: z.enum(MEMORY_SHARING),
}

/** The rules that hold for a project: each field as strict as the strictest layer made it. */
export const Governance = z.strictObject(governance).meta({ id: 'Governance' })
export type Governance = z.output<typeof Governance>

export const GOVERNANCE_FIELDS = Object.keys(governance) as (keyof Governance)[]

/** What one layer asks for; a field that it does not name is left to the others. */
export const GivenGovernance = z
  .looseObject(z.strictObject(governance).partial().shape)
  .superRefine((value, context) => {
    const unknown = Object.keys(value).filter((key) => !Object.hasOwn(governance, key))
    for (const key of unknown) {
      const { error: message, params } = coded('unknown_governance_field', 'is not known')
      context.addIssue({ code: 'custom', path: [key.slice(0, MAX_KEY_CHARS)], message, params })
    }
  })
export type GivenGovernance = { [F in keyof Governance]?: Governance[F] | undefined }

const MAX_KEY_CHARS = 128
const MAX_KEYS = 200
const MAX_CONFIG_BYTES = 65_536
const MAX_INSTRUCTIONS_BYTES = 16_384
const KEY = /^[a-z][A-Za-z0-9_-]{0,127}$/

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}

const AgentInstructions = z
  .string()
  .refine(
    (value) => bytesOf(value) <= MAX_INSTRUCTIONS_BYTES,
    `must be at most ${MAX_INSTRUCTIONS_BYTES} bytes`,
  )

function isKept(value: Record<string, unknown>): boolean {
  return Object.keys(value).length <= MAX_KEYS && Object.keys(value).every((key) => KEY.test(key))
}

const KEYS = `must have at most ${MAX_KEYS} keys, each 1 to ${MAX_KEY_CHARS} of a-z, A-Z, 0-9, _ and -, beginning with a-z`

function isSmall(value: object): boolean {
  return bytesOf(JSON.stringify(value)) <= MAX_CONFIG_BYTES
}

const SIZE = `must be at most ${MAX_CONFIG_BYTES} bytes of JSON`

/** A layer of configuration: rules, instructions for agents, and keys of the project's own. */
export const ProjectConfig = z
  .looseObject({
    governance: GivenGovernance.optional(),
    /** Told to every agent that works on a task of the project. */
    agentInstructions: AgentInstructions.optional(),
  })
  .refine(isKept, KEYS)
  .refine(isSmall, SIZE)
  .meta({ id: 'ProjectConfig' })
export type ProjectConfig = z.output<typeof ProjectConfig>

/** The last layer, changed in place; it cannot hold rules. */
export const ProjectSettings = z
  .looseObject({ agentInstructions: AgentInstructions.optional() })
  .refine((value) => !Object.hasOwn(value, 'governance'), {
    ...coded('governance_not_in_settings', 'belongs into a config revision'),
    path: ['governance'],
  })
  .refine(isKept, KEYS)
  .refine(isSmall, SIZE)
  .meta({ id: 'ProjectSettings' })
export type ProjectSettings = z.output<typeof ProjectSettings>

/** Where an effective value comes from. */
export const ConfigLayer = z.enum(['template', 'ancestor', 'revision', 'profile'])
export type ConfigLayer = z.infer<typeof ConfigLayer>

export const EffectiveConfig = z
  .looseObject({ governance: Governance, agentInstructions: z.string().optional() })
  .meta({ id: 'EffectiveConfig' })
export type EffectiveConfig = z.output<typeof EffectiveConfig>

/** By key; the fields of `governance` as `governance.<field>`, without those that no layer restricts. */
export const ConfigProvenance = z.record(z.string(), ConfigLayer)
export type ConfigProvenance = z.output<typeof ConfigProvenance>
