import { ModelError } from './embedder.ts'

/** A model behind HTTP and how we show ourselves to it. */
export interface Endpoint {
  url: string
  apiKey: string | undefined
  timeoutSeconds: number
}

const MAX_TOLD = 200

/**
 * What the endpoint answers, as JSON. Throws `ModelError` when it is not reached in time, refuses or answers
 * something else; what it said is told in part, what it was sent is not.
 */
export async function postJson(
  { url, apiKey, timeoutSeconds }: Endpoint,
  body: object,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    })
    const text = await response.text()
    if (!response.ok) throw new ModelError(`${response.status} ${text.slice(0, MAX_TOLD)}`)
    return JSON.parse(text)
  } catch (error) {
    signal.throwIfAborted()
    const why = error instanceof Error ? error.message : String(error)
    throw new ModelError(`Cannot ask the model at ${new URL(url).host}: ${why}`, { cause: error })
  }
}
