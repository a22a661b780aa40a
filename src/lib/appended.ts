/** Told the tenant whose journal grew, after the commit, and the types of what was appended. */
export type Notify = (tenantId: string, types?: readonly string[]) => void

/** Collects the types of what transactions append. `announce` tells of them, after the commit. */
export function collectAppended() {
  const types: string[] = []
  return {
    wake: (appended: readonly string[]) => void types.push(...appended),
    isEmpty: () => types.length === 0,
    /** Forgets what the transaction `run` appended when it fails. */
    async undoing<T>(run: () => Promise<T>): Promise<T> {
      const { length } = types
      try {
        return await run()
      } catch (error) {
        types.length = length
        throw error
      }
    },
    announce(notify: Notify, tenantId: string) {
      if (types.length > 0) notify(tenantId, types)
    },
  }
}
