/** A query of the driver, as far as we have to do with it; it is in no typings. */
export interface Query extends Promise<unknown> {
  executed: boolean
  /** Runs it, once; awaiting a query calls this first. */
  handle: () => Promise<void>
  /** Sends it. */
  handler: (query: Query) => void
  reject: (error: unknown) => void
}

export function isQuery(value: unknown): value is Query {
  return value instanceof Promise && 'handle' in value && 'executed' in value
}

/** Calls `onRun` with the outcome of a query once it is run. A fragment inside another never is by itself. */
export function whenRun(query: Query, onRun: (outcome: Promise<unknown>) => void): void {
  const run = query.handle
  query.handle = () => {
    // The query's own `then` would run it.
    if (!query.executed) onRun(Promise.prototype.then.call(query))
    return run.call(query)
  }
}
