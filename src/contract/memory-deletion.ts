import { z } from 'zod'
import { NamespaceName } from './memory-common.ts'
import { route } from './route.ts'

export const ERASURE_MODES = ['redact', 'purge'] as const
export type ErasureMode = (typeof ERASURE_MODES)[number]

/** How much an erasure removed; what is not named was not touched. */
export const Removed = z.strictObject({
  /** The evidence itself: emptied by `redact`, removed by `purge`. */
  observations: z.int(),
  chunks: z.int(),
  /** Versions of entities that said nothing else: emptied by `redact`, removed by `purge`. */
  nodes: z.int(),
  /** Versions of entities that lost what the observation said about them. */
  nodes_changed: z.int(),
  /** Facts that rested on nothing else: marked by `redact` and never shown again, removed by `purge`. */
  facts: z.int(),
  /** Facts that other evidence still supports. */
  facts_kept: z.int(),
  links: z.int(),
  traces: z.int(),
  /** Words that nothing in the namespace holds any more. */
  words: z.int(),
})
export type Removed = z.output<typeof Removed>

export const ErasureReceipt = z
  .strictObject({
    observation_id: z.string(),
    namespace: z.string(),
    mode: z.enum(ERASURE_MODES),
    erased_at: z.string(),
    /** True when it had been erased before: nothing was left to remove. */
    repeated: z.boolean(),
    removed: Removed,
  })
  .meta({ id: 'ErasureReceipt' })
export type ErasureReceipt = z.output<typeof ErasureReceipt>

export const eraseObservation = route({
  method: 'DELETE',
  path: '/api/memory/observations/{id}',
  summary: 'Erase an observation and what was made of it; the same one, sent again, is not used',
  tag: 'Memory',
  access: 'authenticated',
  errors: ['permission_denied', 'not_found'],
  params: z.strictObject({ id: z.string().max(64) }),
  query: z.strictObject({
    namespace: NamespaceName.optional(),
    /** `redact` keeps that there was something, `purge` nothing but its key. */
    mode: z.enum(ERASURE_MODES).default('redact'),
    /** `true` erases also what has not arrived yet: it will not be used when it comes. */
    ahead: z.enum(['true', 'false']).default('false'),
  }),
  reply: ErasureReceipt,
})

export const routes = { eraseObservation }
