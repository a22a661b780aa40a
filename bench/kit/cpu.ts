import { readdirSync, readFileSync } from 'node:fs'
import type { Database } from '#db/sql.ts'

/** CPU seconds spent so far by this process and by all processes of the database server. */
export interface CpuTimes {
  own: number
  server: number
}

/** Reads the times of Linux; elsewhere the server's stay NaN. What a busy machine does not change. */
export async function cpuMeter(db: Database): Promise<() => CpuTimes> {
  const [row] = await db<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = row && statOf(String(row.pid))?.parent
  return () => {
    const { user, system } = process.cpuUsage()
    return {
      own: (user + system) / 1e6,
      server: postmaster ? serverSeconds(postmaster) : Number.NaN,
    }
  }
}

const TICKS_PER_SECOND = 100

function serverSeconds(postmaster: string): number {
  let ticks = statOf(postmaster)?.withEnded ?? Number.NaN
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue
    const stat = statOf(pid)
    if (stat?.parent === postmaster) ticks += stat.ticks
  }
  return ticks / TICKS_PER_SECOND
}

/** Fields 4 and 14 to 17 of `/proc/<pid>/stat`; undefined for a process that is gone. */
function statOf(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const at = (field: number) => Number(fields[field - 3])
    const ticks = at(14) + at(15)
    return { parent: fields[1] ?? '', ticks, withEnded: ticks + at(16) + at(17) }
  } catch {
    return undefined
  }
}
