import { z } from 'zod'
import { ERASURE_MODES, Removed } from './memory-deletion.ts'
import { route } from './route.ts'

export const ErasedObservation = z
  .strictObject({
    id: z.uuid(),
    /** The event that recorded it, which keeps length and sha256 of what it said. */
    eventId: z.uuid(),
    mode: z.enum(ERASURE_MODES),
    requestedBy: z.uuid(),
    requestedAt: z.iso.datetime(),
    /** `pending` until memory has erased it: it is told again until it does. `none` without a memory. */
    memoryStatus: z.enum(['erased', 'pending', 'none']),
    /** What memory removed. */
    receipt: z.strictObject({ erasedAt: z.string(), removed: Removed }).nullable(),
  })
  .meta({ id: 'ErasedObservation' })
export type ErasedObservation = z.output<typeof ErasedObservation>

export const eraseObservation = route({
  method: 'DELETE',
  path: '/api/v1/observations/{id}',
  summary:
    'Erase what an observation said, here and in memory; by its author or with operations.manage',
  tag: 'Observations',
  access: 'authenticated',
  params: z.strictObject({ id: z.uuid() }),
  query: z.strictObject({ mode: z.enum(ERASURE_MODES).default('redact') }),
  reply: ErasedObservation,
  statuses: [200, 202],
  errors: ['not_found', 'permission_denied'],
})

export const routes = { eraseObservation }
