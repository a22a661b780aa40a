import type { CallInput } from '#client/client.ts'
import type { Route } from '#contract/route.ts'
import type { World } from './world.ts'

/** What one tenant tries on another. */
export interface TenantCall {
  /** `foreign` names a thing of the other tenant; `own` is a request of its own. */
  kind: 'foreign' | 'own'
  input: CallInput<Route>
  /** How a `foreign` request is refused: `not_found`, but where even a thing of one's own is no answer. */
  refusal: string
  /** The same `own` request by the other tenant shows that tenant's things. */
  shows: boolean
}

type Thing = World['thing']
export type Case = (a: Thing, b: Thing) => TenantCall[]

export const foreign = (input: CallInput<Route>, refusal = 'not_found'): TenantCall => ({
  kind: 'foreign',
  input,
  refusal,
  shows: false,
})
export const own = (input: CallInput<Route>): TenantCall => ({
  kind: 'own',
  input,
  refusal: 'none',
  shows: false,
})
export const look = (input: CallInput<Route> = {}): TenantCall => ({ ...own(input), shows: true })
