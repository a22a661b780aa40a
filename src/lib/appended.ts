/** Told the tenant whose journal grew, after the commit, and the types of what was appended. */
export type Notify = (tenantId: string, types?: readonly string[]) => void

/** Collects the types of what one transaction appends. `announce` tells of them, after its commit. */
export function collectAppended() {
  const types: string[] = []
  return {
    wake: (appended: readonly string[]) => void types.push(...appended),
    isEmpty: () => types.length === 0,
    announce(notify: Notify, tenantId: string) {
      if (types.length > 0) notify(tenantId, types)
    },
  }
}
