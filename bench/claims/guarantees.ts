import { peerVersion } from '../peers/installed.ts'
import type { Table } from '../kit/report.ts'

/** With the version that is installed. */
export function nameOf(peer: string): string {
  return `${peer} ${peerVersion(peer)}`
}
export const FENCED: string[] = []
export function guarantees(): Table {
  return { title: '', columns: [], rows: [] }
}
