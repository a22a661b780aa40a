/** One call that was answered, with when it was made and answered by one clock of the caller. */
export interface Call {
  kind: 'claim' | 'write' | 'end'
  taskId: string
  /** The token it was made under; of a claim, the token it got. Undefined for a claim refused. */
  token: number | undefined
  calledAt: number
  answeredAt: number
  /** Where the change stands in the history of its task; undefined when it was refused. */
  place: number | undefined
}

/** What the record of a task says happened, in its order. */
export interface Entry {
  kind: 'claim' | 'write' | 'end'
  token: number
}

/**
 * Faults of the history of one task's claims as a history of a lock that is held by at most one token:
 *
 * 1. Taken one by one, its entries are legal: a claim only while nobody holds the task and with a larger
 *    token than ever, a write or an end only under the token that holds it.
 * 2. It agrees with real time: what was answered before something else was called stands before it.
 * 3. Who was told that the task is held was told so while somebody could have held it.
 *
 * With 1 and 2 the record is a witness that the calls are linearizable. Source: Herlihy and Wing,
 * Linearizability, 1990.
 */
export function faultsOf(entries: readonly Entry[], calls: readonly Call[]): string[] {
  return [...illegal(entries), ...outOfTime(calls), ...baseless(calls)]
}

function illegal(entries: readonly Entry[]): string[] {
  const faults: string[] = []
  let holder: number | undefined
  let last = 0
  for (const [place, { kind, token }] of entries.entries()) {
    const what = `${kind} under ${token} at ${place}`
    if (kind === 'claim') {
      if (holder !== undefined) faults.push(`${what} while ${holder} holds`)
      if (token <= last) faults.push(`${what} after token ${last}`)
      holder = token
      last = Math.max(last, token)
    } else if (holder !== token) faults.push(`${what} while ${holder ?? 'nobody'} holds`)
    if (kind === 'end' && holder === token) holder = undefined
  }
  return faults
}

/** Of the calls in the order of their places, each must have been called before all later were answered. */
function outOfTime(calls: readonly Call[]): string[] {
  const faults: string[] = []
  const placed = calls
    .filter((call): call is Call & { place: number } => call.place !== undefined)
    .toSorted((a, b) => a.place - b.place)
  let latestCall = -Infinity
  for (const call of placed) {
    if (call.answeredAt < latestCall) {
      faults.push(`place ${call.place} was answered before an earlier place was called`)
    }
    latestCall = Math.max(latestCall, call.calledAt)
  }
  return faults
}

/** A refused claim needs a holder whose time could touch its own. */
function baseless(calls: readonly Call[]): string[] {
  const holds = calls
    .filter(({ kind, token }) => kind === 'claim' && token !== undefined)
    .map((claim) => {
      const end = calls.find(({ kind, token }) => kind === 'end' && token === claim.token)
      return { from: claim.calledAt, until: end?.answeredAt ?? Infinity }
    })
  return calls
    .filter(({ kind, token }) => kind === 'claim' && token === undefined)
    .filter((call) => {
      return !holds.some(({ from, until }) => from <= call.answeredAt && until >= call.calledAt)
    })
    .map(({ calledAt }) => `a claim at ${calledAt} was refused while nobody held the task`)
}
