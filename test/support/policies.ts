import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { decisionPoint } from '#authz/decision-point.ts'
import { jsonLog } from '#lib/log.ts'
import { createPolicyApp } from '#policy/app.ts'
import { readPolicies } from '#policy/cedar.ts'
import { listen } from '../../src/listen.ts'

/** A folder with these files, gone with the test. */
export async function policyFolder(
  t: TestContext,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'policies-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

/** The decision point that we ship, on a port of this machine, with these policies. */
export async function startDecisionPoint(t: TestContext, cedar: string, entities: object[] = []) {
  const folder = await policyFolder(t, {
    'test.cedar': cedar,
    'entities.json': JSON.stringify(entities),
  })
  const apiKey = 'key-of-the-decision-point'
  const log = jsonLog(
    (line) => process.stderr.write(line),
    () => new Date(),
    'error',
  )
  const app = createPolicyApp({ policies: await readPolicies(folder), apiKey, log })
  const server = await listen(app, { host: '127.0.0.1', port: 0, setting: 'test' })
  let isOpen = true
  const stop = async () => {
    if (isOpen) await server[Symbol.asyncDispose]()
    isOpen = false
  }
  t.after(stop)
  const point = decisionPoint({ url: server.url, apiKey, timeoutSeconds: 3 })
  return { url: server.url, apiKey, point, stop }
}
