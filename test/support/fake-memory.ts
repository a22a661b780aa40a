import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { fakeServer, reply } from './http-server.ts'

/** The smallest answer that is a pack. */
export const PACK = { query: 'q', sections: [], trace_id: 'ctx-0123456789abcdef' }

/** What the control plane asks memory, as far as tests look at it. */
export interface Question {
  query: string
  scope: { namespaces: string[] }
  scopes: string[]
  allowed_scopes: string[]
  anchors: string[]
  ephemeral_context: { activeClaims: { taskId: string }[] }
}

/** A server that plays a memory of the test's own making and keeps what it was asked. */
export async function fakeMemory(
  t: TestContext,
  answer: (question: Question, response: ServerResponse) => void,
) {
  const questions: Question[] = []
  const server = await fakeServer(t, ({ body }, response) => {
    questions.push(body as Question)
    answer(body as Question, response)
  })
  return { ...server, questions }
}

/** A memory that always answers the same; text is sent as it is. */
export function memoryAnswering(t: TestContext, status: number, body: unknown) {
  return fakeMemory(t, (_, response) => reply(response, status, body))
}
