import { z } from 'zod'
import { route } from './route.ts'

const Counts = z.strictObject({
  observations: z.int(),
  chunks: z.int(),
  nodes: z.int(),
  edges: z.int(),
})

export const getStats = route({
  method: 'GET',
  path: '/api/brain/stats',
  summary: 'How much memory holds; only for callers who read every namespace',
  tag: 'Memory',
  access: 'authenticated',
  errors: ['permission_denied'],
  reply: z.strictObject({
    namespaces: z.int(),
    /** Items that are neither ended nor replaced. */
    items: Counts,
    /** The namespaces with the most items, at most 50. */
    largest: z.array(z.strictObject({ namespace: z.string(), items: Counts })),
    /** Of this process. */
    index: z.strictObject({ bytes: z.int(), budget_bytes: z.int() }),
  }),
})

export const routes = { getStats }
