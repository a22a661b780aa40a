import type { z } from 'zod'
import { AUTHZEN_PATHS, Decisions, SearchResults } from '#contract/authzen.ts'
import type { Candidates, Evaluation } from '#contract/authzen.ts'
import { AppError } from '#lib/errors.ts'

export type Subject = Evaluation['subject']
export type Resource = Evaluation['resource']

export interface DecisionPointOptions {
  /** The endpoints stand below this address, whatever its path. */
  url: string
  apiKey: string | undefined
  timeoutSeconds: number
}

interface SearchWish {
  type: string
  tenantId: string
  candidates: Candidates
}

/** Somebody else who decides who may do what. Every failure is `policy_unavailable`: nobody is let in. */
export interface DecisionPoint {
  /** The actions of these that the subject may do on the resource. */
  allowed: (subject: Subject, resource: Resource, actions: readonly string[]) => Promise<string[]>
  /** The ids among the candidates on which the subject may do the action. */
  search: (subject: Subject, action: string, wish: SearchWish) => Promise<string[]>
}

/** So many candidates are put into one question, which keeps it well within the time for an answer. */
const CANDIDATES_PER_QUESTION = 500

/** An answer that goes on for more pages than this has no end. */
const MAX_PAGES = 100

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
      const found: string[] = []
      for (let from = 0; from < candidates.length; from += CANDIDATES_PER_QUESTION) {
        const some = candidates.slice(from, from + CANDIDATES_PER_QUESTION)
        const question = {
          subject,
          action: { name: action },
          resource: { type, properties: { tenantId } },
          context: { candidates: some },
        }
        const known = new Set(some.map(({ id }) => id))
        const results = await everyPage(options, question)
        const ids = results.filter((one) => one.type === type && known.has(one.id))
        found.push(...new Set(ids.map(({ id }) => id)))
      }
      return found
    },
  }
}

/** Half an answer is none: whatever the decision point says is still to come is asked for. */
async function everyPage(
  options: DecisionPointOptions,
  question: object,
): Promise<z.output<typeof SearchResults>['results']> {
  const results = []
  let token: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const body = { ...question, ...(token !== undefined && { page: { token } }) }
    const answer = await ask(options, AUTHZEN_PATHS.searchResource, body, SearchResults)
    results.push(...answer.results)
    token = answer.page?.next_token
    if (token === undefined || token === '') return results
  }
  throw unavailable()
}

async function ask<T extends z.ZodType>(
  { url, apiKey, timeoutSeconds }: DecisionPointOptions,
  path: string,
  body: object,
  answer: T,
): Promise<z.output<T>> {
  let json: unknown
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutSeconds * 1000),
    })
    if (response.status !== 200) throw new Error(`The decision point answered ${response.status}`)
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
