import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Database } from '#db/sql.ts'
import { number } from './stats.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Where and with what something was measured. */
export type Setting = Record<string, string>

/** The machine, the versions and how busy the machine was before the measurement. */
export async function describeSetting(db?: Database): Promise<Setting> {
  const [cpu] = cpus()
  const dependencies = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  const [server] = db
    ? await db<[{ version: string; fsync: string; commit: string }]>`
    select current_setting('server_version') as version, current_setting('fsync') as fsync,
           current_setting('synchronous_commit') as commit`
    : []
  return {
    date: new Date().toISOString(),
    machine: `${cpus().length} x ${cpu?.model.trim() ?? 'unknown'}, ${number(totalmem() / 2 ** 30)} GiB`,
    system: `${platform()} ${release()} ${arch()}`,
    load: loadText(),
    node: process.version,
    postgresql: server
      ? `${server.version}, fsync ${server.fsync}, synchronous_commit ${server.commit}`
      : 'not asked',
    driver: `postgres.js ${dependencies.dependencies['postgres']}`,
    strata: revision(),
  }
}

/** The load averages of the machine now; a busy one measures its neighbours too. */
export function loadText(): string {
  return loadavg()
    .map((value) => value.toFixed(2))
    .join(' ')
}

function revision(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain') === '' ? '' : ' with changes'
    return `${git('rev-parse', '--short', 'HEAD')}${changed}`
  } catch {
    return 'unknown'
  }
}
