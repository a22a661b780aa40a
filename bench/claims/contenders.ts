import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { DatabaseAddress } from '#db/sql.ts'
import type { Answer, Outcome, Wish } from './contender.ts'

/** A contender's process. */
export interface Contender extends AsyncDisposable {
  ask: (wish: Wish) => Promise<Outcome>
}

const PATIENCE_MS = 120_000

export async function startContender(name: string, address: DatabaseAddress): Promise<Contender> {
  const file = join(import.meta.dirname, 'contender.ts')
  const child = fork(file, [name, JSON.stringify(address)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = once(child, 'exit')
  const heard = async (): Promise<unknown> => {
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const late = once(child, 'message', { signal }).catch((cause: unknown) => {
      throw new Error(`${name} does not answer`, { cause })
    })
    const [message] = (await Promise.race([late, ended])) as [unknown]
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    return message
  }
  await heard()
  return {
    async ask(wish) {
      const heardAnswer = heard()
      child.send(wish)
      const answer = (await heardAnswer) as Answer
      if ('error' in answer) throw new Error(`${name}: ${answer.error}`)
      return answer.outcome
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) child.disconnect()
      await ended
    },
  }
}
