import { z } from 'zod'
import {
  ActorRef,
  Confidence,
  FactMoment,
  FreeForm,
  ItemScopes,
  MAX_KEY_CHARS,
  Moment,
  NodeKey,
  NodeType,
  label,
} from './memory-common.ts'

const MAX_BYTES = 1024 * 1024

const word = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^\s\p{Cc}]+$/u, 'must not contain white space or control characters')

const Source = z
  .strictObject({ system: word.optional(), stream: word.optional(), external_id: word.optional() })
  .refine(({ system, external_id }) => external_id === undefined || system !== undefined, {
    path: ['system'],
    error: 'is needed with external_id',
  })

function within(bytes: number) {
  return (value: unknown) =>
    Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)) <= bytes
}

/**
 * Evidence: what somebody saw, said or decided, at a moment. Assertions are kept as given and used one
 * by one, so a faulty one spoils neither the record nor its neighbours.
 */
export const Observation = z
  .strictObject({
    source: Source.nullish().transform((source) => source ?? {}),
    kind: z
      .string()
      .regex(/^[a-z0-9][a-z0-9._-]{0,127}$/, 'must be lower-case letters, digits, dots, dashes'),
    /** The moment of recording when absent. */
    occurred_at: Moment.nullish(),
    actor: ActorRef.nullish(),
    subject: ActorRef.nullish(),
    scopes: ItemScopes.nullish().transform((scopes) => scopes ?? []),
    content: z.string().refine(within(MAX_BYTES), 'must be at most 1 MiB').nullish(),
    data: FreeForm.refine(within(MAX_BYTES), 'must be at most 1 MiB').nullish(),
    assertions: z.array(FreeForm).max(200).nullish(),
    provenance: FreeForm.refine(within(MAX_BYTES), 'must be at most 1 MiB').nullish(),
  })
  .refine(
    ({ content, data, assertions }) =>
      Boolean(content?.trim()) || Object.keys(data ?? {}).length > 0 || Boolean(assertions?.length),
    { path: ['content'], error: 'must not be empty without data and assertions' },
  )
export type Observation = z.output<typeof Observation>

interface GivenRef {
  key?: string | undefined
  type?: string | undefined
  id?: string | undefined
  title?: string | null | undefined
}

/** The key of an entity and its type: given, or the prefix of the key, or `entity`. */
function named({ key, type, id, title }: GivenRef, ctx: z.RefinementCtx) {
  const whole = key ?? (id === undefined ? '' : `${type ?? 'entity'}:${id}`)
  if (!NodeKey.safeParse(whole).success) {
    ctx.addIssue(`must name an entity by a key of 1 to ${MAX_KEY_CHARS} characters`)
  }
  const prefix = /^([A-Za-z_][\w-]{0,63}):/.exec(whole)?.[1]
  return {
    key: whole,
    type: type ?? prefix ?? 'entity',
    /** False when the type is only the key's prefix. */
    typeGiven: type !== undefined,
    title: title ?? undefined,
  }
}

const refFields = {
  key: z.string().optional(),
  type: NodeType.optional(),
  id: z.string().optional(),
  title: z.string().max(2000).nullish(),
}

const EntityRef = z
  .union([z.string(), z.strictObject(refFields)])
  .transform((given, ctx) => named(typeof given === 'string' ? { key: given } : given, ctx))

const validity = {
  valid_from: FactMoment.nullish(),
  valid_to: FactMoment.nullish(),
}

const EntityAssertion = z.strictObject({
  assert: z.literal('entity'),
  entity: z
    .strictObject({
      ...refFields,
      properties: FreeForm.nullish(),
      aliases: z.array(label(300)).max(100).nullish(),
      scopes: ItemScopes.nullish(),
      source_path: z.string().max(2048).nullish(),
      confidence: Confidence.nullish(),
    })
    .transform(({ key, type, id, title, ...rest }, ctx) => ({
      ...rest,
      ...named({ key, type, id, title }, ctx),
    })),
})

const FactAssertion = z.strictObject({
  assert: z.literal('fact'),
  fact: z
    .strictObject({
      subject: EntityRef,
      predicate: label(128),
      object: EntityRef,
      confidence: Confidence.nullish(),
      ...validity,
      supersedes: z.string().max(64).nullish(),
      attributes: FreeForm.nullish(),
      scopes: ItemScopes.nullish(),
      source_path: z.string().max(2048).nullish(),
    })
    .refine(({ valid_from, valid_to }) => !valid_from || !valid_to || valid_from <= valid_to, {
      path: ['valid_to'],
      error: 'must not be before valid_from',
    }),
})

const TextAssertion = z.strictObject({
  assert: z.literal('text'),
  text: z
    .union([
      z.string().transform((content) => ({ content })),
      z.strictObject({
        key: NodeKey.optional(),
        type: NodeType.optional(),
        title: z.string().max(2000).nullish(),
        heading: z.string().max(2000).nullish(),
        content: z.string().optional(),
        text: z.string().optional(),
        scopes: ItemScopes.nullish(),
        source_path: z.string().max(2048).nullish(),
        meta: FreeForm.nullish(),
      }),
    ])
    .transform((given: TextInput, ctx) => {
      const { content, text, ...rest } = given
      const said = content ?? text ?? ''
      if (said.trim() === '') ctx.addIssue('must have a content')
      return { ...BARE, ...rest, content: said }
    }),
})

/** So that a text given as a string has every field too. */
const BARE: Omit<TextInput, 'content' | 'text'> = {}

interface TextInput {
  key?: string | undefined
  type?: string | undefined
  title?: string | null | undefined
  heading?: string | null | undefined
  content?: string | undefined
  text?: string | undefined
  scopes?: string[] | null | undefined
  source_path?: string | null | undefined
  meta?: Record<string, unknown> | null | undefined
}

/** What an observation says about the world, in a form that can be joined to what is known. */
export const Assertion = z.discriminatedUnion('assert', [
  EntityAssertion,
  FactAssertion,
  TextAssertion,
])
export type Assertion = z.output<typeof Assertion>
export type EntityAssertion = z.output<typeof EntityAssertion>['entity']
export type FactAssertion = z.output<typeof FactAssertion>['fact']
export type TextAssertion = z.output<typeof TextAssertion>['text']
