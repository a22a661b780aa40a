import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { startProgram } from './program.ts'
import type { Running } from './program.ts'

/** An empty folder, removed with everything in it at the end of the test. */
export async function temporaryFolder(t: TestContext, prefix = 'strata-test-'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the program that writes rows into an embedded PostgreSQL of its own; see embedded-writer.ts. */
export function startWriter(
  t: TestContext,
  args: readonly string[],
  options: SpawnOptions = {},
): Running {
  return startProgram(t, [join(import.meta.dirname, 'embedded-writer.ts'), ...args], options)
}

export interface OrdinaryUser {
  uid?: number
  gid?: number
}

/**
 * An account that is not root, which then owns `folder`: `nobody` when we are root, otherwise ourselves.
 * Skips the test, with the reason, when that account could not read the program.
 */
export async function ordinaryUser(
  t: TestContext,
  folder: string,
): Promise<OrdinaryUser | undefined> {
  if (process.getuid?.() !== 0) return {}
  const user = { uid: 65_534, gid: 65_534 }
  await chown(folder, user.uid, user.gid)
  const read = `require('node:fs').readFileSync(${JSON.stringify(import.meta.filename)})`
  const tried = spawn(process.execPath, ['-e', read], { ...user, cwd: '/', stdio: 'ignore' })
  const code = await new Promise<number | null>((resolve) => {
    tried.once('error', () => resolve(null))
    tried.once('exit', resolve)
  })
  if (code === 0) return user
  t.skip('NOT TESTED: an ordinary user cannot read the folder of this program, which only root can')
  return undefined
}
