/** How long a lease may be. Seconds. */
export interface LeaseBounds {
  defaultSeconds: number
  minSeconds: number
  maxSeconds: number
}

export interface Leases {
  session: LeaseBounds
  claim: LeaseBounds
}

const BOUNDS: LeaseBounds = { defaultSeconds: 300, minSeconds: 10, maxSeconds: 3600 }

export const DEFAULT_LEASES: Leases = { session: BOUNDS, claim: BOUNDS }

/** The same bounds with other defaults, as an operator configures them. */
export function leasesOf(defaults: { sessionSeconds: number; claimSeconds: number }): Leases {
  const { sessionSeconds, claimSeconds } = defaults
  return {
    session: { ...BOUNDS, defaultSeconds: ttlWithin(BOUNDS, sessionSeconds) },
    claim: { ...BOUNDS, defaultSeconds: ttlWithin(BOUNDS, claimSeconds) },
  }
}

/** The length of a lease that was asked for: brought into the bounds, the default when none was. */
export function ttlWithin(bounds: LeaseBounds, ttlSeconds: number | undefined): number {
  const { defaultSeconds, minSeconds, maxSeconds } = bounds
  return Math.min(Math.max(ttlSeconds ?? defaultSeconds, minSeconds), maxSeconds)
}

/** The same for a renewal, which keeps the length of the lease unless another is asked for. */
export function renewalWithin(
  bounds: LeaseBounds,
  ttlSeconds: number | undefined,
): number | undefined {
  return ttlSeconds === undefined ? undefined : ttlWithin(bounds, ttlSeconds)
}
