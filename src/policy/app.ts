import { timingSafeEqual } from 'node:crypto'
import { Hono } from 'hono'
import type { Context } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { z } from 'zod'
import {
  AUTHZEN_PATHS,
  Candidates,
  Evaluation,
  Evaluations,
  ResourceSearch,
} from '#contract/authzen.ts'
import { sha256 } from '#lib/id.ts'
import type { Log } from '#lib/log.ts'
import type { Policies } from './cedar.ts'

export interface PolicyApp {
  policies: Policies
  /** The bearer key that questions must carry; without one everybody is answered. */
  apiKey: string | undefined
  log: Log
  /** Told of every decision, and of every request that got none. */
  counted?: (answer: PolicyAnswer) => void
}

export type PolicyAnswer = 'permit' | 'deny' | 'refused' | 'failed'

const MAX_BODY_BYTES = 8 * 1024 * 1024

/**
 * A decision point over Cedar policies, spoken to in the AuthZEN Authorization API 1.0. It keeps no data of
 * its own: what it has to know about subject and resource comes with the question.
 */
export function createPolicyApp({ policies, apiKey, log, counted = () => {} }: PolicyApp): Hono {
  const app = new Hono()
  const isAllowed: Policies['isAllowed'] = (question) => {
    const decision = policies.isAllowed(question)
    counted(decision ? 'permit' : 'deny')
    return decision
  }
  app.get('/health/live', (c) => c.json({ status: 'ok' }))
  app.get('/.well-known/authzen-configuration', (c) => c.json(configuration(new URL(c.req.url))))
  app.use('/access/*', async (c, next) => {
    if (!isKnown(c, apiKey)) {
      counted('refused')
      return c.json({ error: 'the key is not valid' }, 401)
    }
    const id = c.req.header('x-request-id')
    if (id !== undefined) c.header('X-Request-ID', id)
    await next()
    return undefined
  })
  const tooLarge = (c: Context) => {
    counted('refused')
    return c.json({ error: 'the question is too large' }, 413)
  }
  app.use('/access/*', bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }))
  app.post(AUTHZEN_PATHS.evaluation, async (c) => {
    const question = await read(c, Evaluation)
    return c.json({ decision: isAllowed(question) })
  })
  app.post(AUTHZEN_PATHS.evaluations, async (c) => {
    const { evaluations, ...common } = await read(c, Evaluations)
    const questions = evaluations.map((one) => parse(Evaluation, { ...common, ...one }))
    const answers = questions.map((question) => ({ decision: isAllowed(question) }))
    return c.json({ evaluations: answers })
  })
  app.post(AUTHZEN_PATHS.searchResource, async (c) => {
    const { subject, action, resource, context = {} } = await read(c, ResourceSearch)
    const { candidates: given = [], ...rest } = context
    const results = parse(Candidates, given)
      .map(({ id, properties }) => ({ type: resource.type, id, properties }))
      .filter((one) => isAllowed({ subject, action, resource: one, context: rest }))
      .map(({ type, id }) => ({ type, id }))
    return c.json({ results })
  })
  app.onError((error, c) => {
    counted(error instanceof BadQuestion ? 'refused' : 'failed')
    if (error instanceof BadQuestion) return c.json({ error: error.message }, 400)
    log.error('Decision failed', error, { path: c.req.path })
    return c.json({ error: 'something went wrong' }, 500)
  })
  return app
}

/** Source: AuthZEN Authorization API 1.0, section 9. */
function configuration({ origin }: URL) {
  return {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}${AUTHZEN_PATHS.evaluation}`,
    access_evaluations_endpoint: `${origin}${AUTHZEN_PATHS.evaluations}`,
    search_resource_endpoint: `${origin}${AUTHZEN_PATHS.searchResource}`,
  }
}

class BadQuestion extends Error {
  override name = 'BadQuestion'
}

async function read<T extends z.ZodType>(c: Context, schema: T): Promise<z.output<T>> {
  const text = await c.req.text()
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    throw new BadQuestion('the question is not JSON')
  }
  return parse(schema, json)
}

function parse<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new BadQuestion(`${issue?.path.join('.')} ${issue?.message}`)
}

function isKnown(c: Context, apiKey: string | undefined): boolean {
  if (apiKey === undefined) return true
  const [, given = ''] = /^Bearer +(\S+) *$/i.exec(c.req.header('authorization') ?? '') ?? []
  return timingSafeEqual(Buffer.from(sha256(given)), Buffer.from(sha256(apiKey)))
}
