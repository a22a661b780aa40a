import type { CallInput } from '#client/client.ts'
import type { Route, RouteReply } from '#contract/route.ts'

/** Calls as one caller and gives out needles. */
export interface Walk {
  make: <R extends Route>(route: R, input: CallInput<R>) => Promise<RouteReply<R>>
  told: (place: string) => string
  kept: (place: string) => string
}
