import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import type { DatabaseAddress } from '#db/sql.ts'
import type { MemorySettings } from '#memory/serve-memory.ts'

/** A memory service in its own process. */
export interface MemoryService extends AsyncDisposable {
  /** The body of the answer; throws for any status but 200, 201 and 207. */
  post: (path: string, body: object) => Promise<Answer>
  /** Bytes in memory, CPU seconds so far, and the longest pause of the event loop since the last time. */
  usage: () => Promise<{ rss: number; cpu: number; longestPauseMs: number }>
}

// oxlint-disable-next-line typescript/no-explicit-any -- what a client that knows no types sees
export type Answer = any

const SETTINGS: MemorySettings = {
  serverApiKey: undefined,
  apiKeys: undefined,
  verifyToken: undefined,
  coreIdentities: null,
  defaultNamespace: 'bench',
  observationsMaxBatch: 500,
  reconcileMaxItems: 20_000,
  reconcileChangesLimit: 1000,
  contextDefaultMaxTokens: 8000,
  indexMemoryMb: 640,
  cacheFolder: undefined,
  llm: undefined,
  synthesizesByDefault: false,
  maxBodyBytes: 8_388_608,
  maxKnowledgeBytes: 67_108_864,
  checkReplies: true,
}

export async function startService(
  address: DatabaseAddress,
  settings: Partial<MemorySettings> = {},
): Promise<MemoryService> {
  const child = fork(join(import.meta.dirname, 'serve.ts'), [
    JSON.stringify(address),
    JSON.stringify({ ...SETTINGS, ...settings }),
  ])
  const [first] = (await once(child, 'message')) as [{ url: string }]
  const agent = new Agent({ keepAlive: true })
  return {
    post: (path, body) => send(agent, new URL(path, first.url), JSON.stringify(body)),
    usage: async () => {
      child.send('usage')
      const [usage] = (await once(child, 'message')) as [
        Awaited<ReturnType<MemoryService['usage']>>,
      ]
      return usage
    },
    async [Symbol.asyncDispose]() {
      agent.destroy()
      const ended = once(child, 'exit')
      child.send('stop')
      await ended
    },
  }
}

function send(agent: Agent, url: URL, body: string): Promise<Answer> {
  return new Promise((done, fail) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        const isGood = [200, 201, 207].includes(response.statusCode ?? 0)
        if (isGood) done(JSON.parse(text))
        else
          fail(new Error(`${url.pathname} answered ${response.statusCode}: ${text.slice(0, 500)}`))
      })
    })
    sent.on('error', fail)
    sent.end(body)
  })
}
