import type { z } from 'zod'
import { AUTHZEN_PATHS, Decisions, SearchResults } from '#contract/authzen.ts'
import type { Candidates, Evaluation } from '#contract/authzen.ts'
import { AppError } from '#lib/errors.ts'

export type Subject = Evaluation['subject']
export type Resource = Evaluation['resource']

export interface DecisionPointOptions {
  url: string
  apiKey: string | undefined
  timeoutSeconds: number
}

/** Somebody else who decides who may do what. Every failure is `policy_unavailable`: nobody is let in. */
export interface DecisionPoint {
  /** The actions of these that the subject may do on the resource. */
  allowed: (subject: Subject, resource: Resource, actions: readonly string[]) => Promise<string[]>
  /** The ids among the candidates on which the subject may do the action. */
  search: (
    subject: Subject,
    action: string,
    wish: { type: string; tenantId: string; candidates: Candidates },
  ) => Promise<string[]>
}

/** A decision point spoken to in the AuthZEN Authorization API 1.0. */
export function decisionPoint(options: DecisionPointOptions): DecisionPoint {
  return {
    async allowed(subject, resource, actions) {
      const evaluations = actions.map((name) => ({ action: { name } }))
      const body = { subject, resource, evaluations }
      const answer = await ask(options, AUTHZEN_PATHS.evaluations, body, Decisions)
      if (answer.evaluations.length !== actions.length) throw unavailable()
      return actions.filter((_, index) => answer.evaluations[index]?.decision === true)
    },
    async search(subject, action, { type, tenantId, candidates }) {
      const body = {
        subject,
        action: { name: action },
        resource: { type, properties: { tenantId } },
        context: { candidates },
      }
      const { results } = await ask(options, AUTHZEN_PATHS.searchResource, body, SearchResults)
      const known = new Set(candidates.map(({ id }) => id))
      const found = results.filter((result) => result.type === type && known.has(result.id))
      return [...new Set(found.map(({ id }) => id))]
    },
  }
}

async function ask<T extends z.ZodType>(
  { url, apiKey, timeoutSeconds }: DecisionPointOptions,
  path: string,
  body: object,
  answer: T,
): Promise<z.output<T>> {
  let json: unknown
  try {
    const response = await fetch(new URL(path, url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    })
    if (!response.ok) throw new Error(`The decision point answered ${response.status}`)
    json = await response.json()
  } catch (cause) {
    throw unavailable(cause)
  }
  const result = answer.safeParse(json)
  if (!result.success) throw unavailable(result.error)
  return result.data
}

function unavailable(cause?: unknown): AppError {
  return new AppError('policy_unavailable', 'Cannot decide: the decision point does not answer', {
    cause,
    retryAfterSeconds: 1,
  })
}
