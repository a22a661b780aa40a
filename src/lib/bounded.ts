import { createContext, Script } from 'node:vm'

/** What came of it, or why there is nothing: it took too much time, or called itself without end. */
export type Bounded<T> = { ok: true; value: T } | { ok: false; why: 'slow' | 'endless' }

/** On a busy machine work may take so many times longer than the time it uses. */
const MAX_PATIENCE = 8

/**
 * Runs work that does nothing but think to its end, or until it has used `cpuMs` of this process; V8 stops even a
 * regular expression that backtracks. Time in which others had the machine does not count: what was stopped early
 * begins anew with more patience, so `work` must be fit to be run again after it was stopped anywhere.
 */
export function bounded<T>(work: () => T, cpuMs: number): Bounded<T> {
  const script = new Script('work()')
  const context = createContext({ work })
  for (let timeout = cpuMs; ; timeout *= 2) {
    const before = process.cpuUsage()
    try {
      return { ok: true, value: script.runInContext(context, { timeout }) as T }
    } catch (error) {
      const { name, code } = error as { name?: string; code?: string }
      if (name === 'RangeError') return { ok: false, why: 'endless' }
      if (code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      const { user, system } = process.cpuUsage(before)
      const hasUsed = (user + system) / 1000
      if (hasUsed >= cpuMs || timeout >= cpuMs * MAX_PATIENCE) return { ok: false, why: 'slow' }
    }
  }
}
