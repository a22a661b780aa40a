import { z } from 'zod'
import type { ClientOptions } from '#client/client.ts'

/** The memory service as its tools reach it. */
export interface Backend {
  client: ClientOptions
  /** Where a tool works that names no namespace; undefined leaves it to the service. */
  namespace: string | undefined
}

export const Namespace = z
  .string()
  .max(200)
  .optional()
  .describe('Namespace to work in; leave it out for the usual one')

/** The `scope` of a request. */
export function scopeOf({ namespace: usual }: Backend, given: string | undefined) {
  const namespace = given ?? usual
  return namespace === undefined ? {} : { scope: { namespace } }
}
