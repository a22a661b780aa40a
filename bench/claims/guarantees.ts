import type { Table } from '../kit/report.ts'
import { peerVersion } from '../peers/installed.ts'

/** With the version that is installed. */
export function nameOf(peer: string): string {
  return `${peer} ${peerVersion(peer)}`
}

/** Peers that refuse the late finish of one whose job was given to another, as they are measured here. */
export const FENCED: readonly string[] = ['pg-boss', 'bullmq', '@dbos-inc/dbos-sdk']

/**
 * What one gets for the time that a job takes. Read from the sources of the peers at the versions that
 * bench/peers/packages names; look there again when they change.
 */
export function guarantees(): Table {
  return {
    title: 'What each guarantees',
    columns: ['', 'Strata', 'pg-boss', 'graphile-worker', 'BullMQ', 'DBOS'],
    rows: [
      [
        'the late finish of a former holder',
        'refused',
        'refused',
        'accepted',
        'refused',
        'refused',
      ],
      ['by', 'growing token', 'attempt', '-', 'lock token', 'owner id'],
      ['every other write of a holder too', 'yes', '-', '-', 'lock renewal', 'steps'],
      [
        'lease ends by the clock of',
        'database',
        'database',
        'database',
        'each process',
        'no lease',
      ],
      ['a named job has one winner', 'yes', 'hands out', 'hands out', 'hands out', 'yes'],
      ['event in the same transaction', 'yes', '-', '-', 'yes', '-'],
      ['history', 'append-only', 'row, for a time', 'deleted', 'row, trimmed', 'row'],
      ['readers of it miss nothing', 'cursor', '-', '-', 'by id', '-'],
      ['tenants kept apart', 'in every key', 'by queue', '-', 'by queue', 'by schema'],
      ['who may claim is checked', 'yes', '-', '-', '-', '-'],
      ['dependencies, gates, requirements', 'yes', 'dependencies', '-', 'children', 'in code'],
      ['the same wish twice', 'one answer', 'one job', 'one job', 'one job', 'one workflow'],
      ['several in one statement', '-', 'yes', 'yes', 'finish + fetch', 'fetch'],
    ],
    notes: [
      'refused: checked in the statement that finishes. graphile-worker deletes by id; its locks last 4 hours.',
      'pg-boss compares the attempt only when complete() is given the job that was fetched, as here.',
      'hands out: takes the next of a queue, each job to one; which one cannot be chosen.',
      'DBOS starts a workflow anew when its process is started again or a recovery is asked for.',
    ],
  }
}
