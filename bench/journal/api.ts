import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { databaseUrl } from '#db/address.ts'
import type { DatabaseAddress } from '#db/sql.ts'

/** The role `api` in a process of its own. */
export interface ApiProcess extends AsyncDisposable {
  url: string
}

const PROGRAM = join(import.meta.dirname, '../../bin/strata.mjs')
const LISTENING = /https?:\/\/[\w.]+:\d+/

/** Starts the program as production does, over a database that is there already. */
export async function startApi(address: DatabaseAddress, folder: string): Promise<ApiProcess> {
  const { PATH } = process.env
  const child = spawn(process.execPath, [PROGRAM, 'api'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH, CP_DATABASE_URL: databaseUrl(address), CP_PORT: '0', STRATA_DATA: folder },
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    const hear = (text: string) => {
      said += text
      const found = LISTENING.exec(said)
      if (found) resolve(found[0])
    }
    child.stdout.setEncoding('utf8').on('data', hear)
    child.stderr.setEncoding('utf8').on('data', hear)
    void ended.then(() => reject(new Error(`The API did not start: ${said}`)))
  })
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await ended
    },
  }
}
