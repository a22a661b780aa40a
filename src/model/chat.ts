import { z } from 'zod'

export interface Message {
  role: 'system' | 'user'
  content: string
}

/** A language model that goes on from a conversation. Throws when it does not answer. */
export type Complete = (messages: readonly Message[], signal: AbortSignal) => Promise<string>

export interface ChatEndpoint {
  /** Base of the API, such as `http://127.0.0.1:11434/v1`. */
  url: string
  model: string
  apiKey: string | undefined
  timeoutSeconds: number
}

const Reply = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string() }) })).min(1),
})

/** A model behind the chat API that OpenAI began and local servers share. */
export function httpChat({ url, model, apiKey, timeoutSeconds }: ChatEndpoint): Complete {
  const address = `${url.replace(/\/+$/, '')}/chat/completions`
  return async (messages, signal) => {
    const response = await fetch(address, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, temperature: 0.1, messages }),
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    })
    if (!response.ok) throw new Error(`The model answered ${response.status}`)
    const { choices } = Reply.parse(await response.json())
    return choices[0]?.message.content ?? ''
  }
}

/** Says again what it was asked last: for trying things out without a model. */
export function echoChat(): Complete {
  return (messages) => Promise.resolve(messages.at(-1)?.content ?? '')
}
