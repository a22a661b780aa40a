import postgres from 'postgres'
import { isConnectionLoss } from './connection-loss.ts'

/** Why a database did not do what was asked. None of it is the caller's doing, and all of it may pass. */
export type TroubleKind = keyof typeof TROUBLES

interface TroubleRow {
  /** Codes of PostgreSQL. Source: its documentation, appendix A. */
  codes: readonly string[]
  /** Follows "the database". */
  words: string
  /** When it makes sense to ask again. */
  retryAfterSeconds: number
}

/** Whatever the statement was, its transaction is undone; but for a lost connection, where nobody knows. */
const TROUBLES = {
  unreachable: { codes: [], words: 'does not answer', retryAfterSeconds: 1 },
  disk_full: { codes: ['53100'], words: 'has no space left', retryAfterSeconds: 30 },
  disk_failed: { codes: ['58030'], words: 'cannot use its disk', retryAfterSeconds: 30 },
  out_of_memory: { codes: ['53200'], words: 'has no memory left', retryAfterSeconds: 5 },
  too_many_connections: {
    codes: ['53300'],
    words: 'has no connection left',
    retryAfterSeconds: 2,
  },
  limit_reached: {
    codes: ['53000', '53400'],
    words: 'has reached a limit of its operator',
    retryAfterSeconds: 30,
  },
  read_only: { codes: ['25006'], words: 'only reads at the moment', retryAfterSeconds: 5 },
  locked: {
    codes: ['55P03'],
    words: 'waited too long for what another request holds',
    retryAfterSeconds: 1,
  },
  timed_out: { codes: ['57014', '25P03', '25P04'], words: 'took too long', retryAfterSeconds: 5 },
  conflict: {
    codes: ['40001', '40P01'],
    words: 'could not order it among others',
    retryAfterSeconds: 1,
  },
} as const satisfies Record<string, TroubleRow>

export interface Trouble {
  kind: TroubleKind
  words: string
  retryAfterSeconds: number
}

/** What kind of trouble an error tells of; undefined when it is none of the database's. */
export function troubleOf(error: unknown): Trouble | undefined {
  const kind = isConnectionLoss(error) ? 'unreachable' : kindOf(error)
  if (kind === undefined) return undefined
  const { words, retryAfterSeconds } = TROUBLES[kind]
  return { kind, words, retryAfterSeconds }
}

/** A standby refuses a transaction that may write as a feature it does not have. */
const STANDBY = /^cannot set transaction read-write mode during recovery/

function kindOf(error: unknown): TroubleKind | undefined {
  if (!(error instanceof postgres.PostgresError)) return undefined
  const { code, message } = error
  if (code === '0A000' && STANDBY.test(message)) return 'read_only'
  const rows = Object.entries<TroubleRow>(TROUBLES)
  const [kind] = rows.find(([, { codes }]) => codes.includes(code)) ?? []
  return kind as TroubleKind | undefined
}
