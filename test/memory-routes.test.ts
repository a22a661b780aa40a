import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { send } from '#client/client.ts'
import { memoryRoutes } from '#contract/all.ts'
import { buildContext } from '#contract/memory-context.ts'
import type { Route } from '#contract/route.ts'
import { AppError } from '#lib/errors.ts'
import type { TokenClaims } from '#lib/jwt.ts'
import { sharedMemoryDb } from './support/db.ts'
import { testMemory } from './support/memory.ts'
import {
  HIDDEN,
  HIDDEN_KEY,
  HIDDEN_SCOPE,
  HIDDEN_TRACE,
  MEMORY_CASES,
  WITHOUT_NAMESPACE,
  hiddenObservation,
  openObservation,
} from './support/memory-route-cases.ts'
import type { MemoryCase } from './support/memory-route-cases.ts'
import { waitFor } from './support/wait.ts'

const db = await sharedMemoryDb()
const { namespace } = testMemory(db)
const OWNER = 'key-of-the-owner-of-all'

/** What an issuer would say about whom; who they are is the token itself. */
const HOLDERS: Readonly<Record<string, Partial<TokenClaims>>> = {
  permitted: { principalType: 'human' },
  denied: { principalType: 'human' },
  guest: { principalType: 'agent' },
  account: { principalType: 'service', scopes: new Set(['memory:on-behalf']) },
}

const memory = testMemory(db, {
  serverApiKey: OWNER,
  apiKeys: JSON.stringify([
    { key: 'elsewhere', grants: [{ prefix: 'other:', write: true }] },
    { key: 'longer', grants: [{ prefix: `${namespace}:`, write: true }] },
    { key: 'reader', grants: [{ prefix: namespace }], service: true },
    { key: 'writer', grants: [{ prefix: namespace, read: false, write: true }], service: true },
  ]),
  verifyToken: (token) => {
    const [name = ''] = token.split('.')
    const claims = HOLDERS[name]
    if (!claims) return Promise.reject(new AppError('invalid_credentials', 'Cannot accept it'))
    const scopes = ['memory:read', 'memory:write', ...(claims.scopes ?? [])]
    return Promise.resolve({
      issuer: 'test',
      subject: name,
      tenantId: null,
      namespaces: [namespace],
      principalType: null,
      ...claims,
      scopes: new Set(scopes),
    })
  },
  // Lets the first into everything, the last into the namespace alone.
  policy: {
    cacheSeconds: 0,
    search: ({ id }, { type, candidates }) => {
      const opens = id === 'permitted' || (id === 'guest' && type === 'memory_namespace')
      return Promise.resolve(opens ? candidates.map((one) => one.id) : [])
    },
  },
})
const token = (name: string) => `${name}.b.c`

const { body: recorded } = await memory.post(
  '/api/memory/observations',
  { ...hiddenObservation, scope: { namespace } },
  OWNER,
)
const document = {
  natural_key: `doc:${HIDDEN}`,
  content: `All of ${HIDDEN}`,
  scopes: [HIDDEN_SCOPE],
}
await memory.post('/api/brain/documents', { ...document, scope: { namespace } }, OWNER)
const note = {
  content: `A note of the ${HIDDEN}`,
  scopes: [HIDDEN_SCOPE],
  provenance: { trace_id: HIDDEN_TRACE },
}
await memory.post('/api/brain/retain', { ...note, scope: { namespace } }, OWNER)
await memory.post('/api/memory/observations', { ...openObservation, scope: { namespace } }, OWNER)
const traceId = await traceOf()
const FACTS = {
  'fact-OPEN': factId('thing:seen', 'thing:other'),
  'fact-HIDDEN': factId(HIDDEN_KEY, `${HIDDEN_KEY}:2`),
}

function factId(subject: string, object: string): string {
  const identity = [namespace, subject, 'KNOWS', object, ''].join('|')
  return `fact-${createHash('sha256').update(identity).digest('hex').slice(0, 24)}`
}

async function traceOf(): Promise<string> {
  const body = { query: HIDDEN, scope: { namespace } }
  const reader = token('permitted')
  const { body: pack } = await memory.post(buildContext.path, body, reader)
  const id = String(pack.trace_id)
  const path = `/api/memory/context/trace/${id}?namespace=${namespace}`
  await waitFor(async () => (await memory.get(path, reader)).status === 200)
  return id
}

interface Answer {
  status: number
  text: string
  body: Record<string, unknown>
}

async function ask(
  route: Route,
  who: string | undefined,
  input: ReturnType<MemoryCase['input']>,
): Promise<Answer> {
  const text = JSON.stringify(input)
    .replace('ctx-TRACE', traceId)
    .replace('obs-HIDDEN', String(recorded.observation_id))
    .replace(/fact-(?:OPEN|HIDDEN)/, (name) => FACTS[name as keyof typeof FACTS])
  const client = { url: 'http://memory.test', token: who ?? '', fetch: memory.fetch }
  const response = await send(client, route, JSON.parse(text) as object)
  const said = await response.text()
  return { status: response.status, text: said, body: JSON.parse(said) as Answer['body'] }
}

const narrow = (input: ReturnType<MemoryCase['input']>) => ({
  ...input,
  ...(input.body && { body: { ...input.body, allowed_scopes: ['workspace:another'] } }),
})

/** An answer that tells nothing hidden but what the caller said itself. */
function tells({ text }: Answer, input: object, says?: string): boolean {
  if (says !== undefined) return text.includes(says)
  const said = JSON.stringify(input)
  const own = [HIDDEN_KEY, `${HIDDEN_KEY}:2`, `doc:${HIDDEN}`, HIDDEN].filter((one) =>
    said.includes(one),
  )
  const rest = own.reduce((left, one) => left.replaceAll(one, ''), text)
  return rest.includes(HIDDEN) || text.includes(`A ${HIDDEN}`) || text.includes(`the ${HIDDEN}`)
}

describe('every route of memory', () => {
  it('has a case here, or a reason why it needs none', () => {
    const all = Object.keys(memoryRoutes).toSorted((a, b) => a.localeCompare(b))
    const known = [...Object.keys(MEMORY_CASES), ...Object.keys(WITHOUT_NAMESPACE)]
    assert.deepEqual(
      known.toSorted((a, b) => a.localeCompare(b)),
      all,
    )
  })

  it('is answered 401 without a credential, unless it is public', async () => {
    for (const [name, route] of Object.entries<Route>(memoryRoutes)) {
      const input = MEMORY_CASES[name]?.input(namespace) ?? {}
      const { status } = await ask(route, undefined, input)
      assert.equal(status, route.access === 'public' ? 200 : 401, name)
    }
  })

  it('that is about all namespaces is only for who reads them all', async () => {
    const { getStats } = memoryRoutes
    for (const who of ['elsewhere', 'reader', token('permitted'), token('account')])
      assert.equal((await ask(getStats, who, {})).status, 403, who)
    const { status, body } = await ask(getStats, OWNER, {})
    assert.equal(status, 200)
    assert.ok((body['items'] as { observations: number }).observations > 0)
  })
})

const ROUTES: Readonly<Record<string, Route>> = memoryRoutes

for (const [name, one] of Object.entries(MEMORY_CASES)) {
  const route = ROUTES[name]
  if (!route) throw new Error(`There is no route ${name}`)
  const { kind, input, foreign, refusal, says, before } = one
  const askAgain = async (who: string, given: ReturnType<MemoryCase['input']>) => {
    if (before) {
      const { path, body } = before(namespace)
      await memory.post(path, body, OWNER)
    }
    return await ask(route, who, given)
  }

  describe(`${name}, which ${kind}`, () => {
    it('serves who may do everything', async () => {
      const { status, text } = await askAgain(OWNER, input(namespace))
      assert.ok(status < 300, text)
    })

    it('is closed to a key of another namespace, however alike its name', async () => {
      for (const who of ['elsewhere', 'longer']) {
        const { status, body } = await askAgain(who, input(namespace))
        assert.deepEqual([status, body['namespace']], [403, namespace], who)
      }
    })

    it('is served by the right alone that it needs', async () => {
      const [open, shut] = kind === 'writes' ? ['writer', 'reader'] : ['reader', 'writer']
      assert.ok((await askAgain(open, input(namespace))).status < 300)
      assert.equal((await askAgain(shut, input(namespace))).status, 403)
    })

    it('is closed to whom the decision point does not permit the namespace', async () => {
      const { status, body } = await askAgain(token('denied'), input(namespace))
      assert.deepEqual([status, body['namespace']], [403, namespace])
    })

    it('asks who acts for others for whom, where it shows something', async () => {
      const { status, text } = await askAgain(token('account'), input(namespace))
      if (kind === 'reads') assert.equal(status, 403, text)
      else assert.ok(status < 300, text)
    })

    if (kind === 'reads') {
      it('shows what a workspace keeps to its members alone', async () => {
        const given = input(namespace)
        const seen = await askAgain(token('permitted'), given)
        assert.ok(tells(seen, {}, says), seen.text)
        const guests = [await askAgain(token('guest'), given)]
        if (given.body) guests.push(await askAgain(OWNER, narrow(given)))
        for (const unseen of guests) {
          assert.ok(!tells(unseen, given, says), unseen.text)
          assert.equal(unseen.status, refusal === 'missing' ? 404 : 200, unseen.text)
        }
      })
    }

    if (kind === 'writes' && foreign) {
      it('leaves alone what its caller does not see, and tells nothing of it', async () => {
        const given = foreign(namespace)
        const answers = [await askAgain(token('guest'), given)]
        if (given.body) answers.push(await askAgain(OWNER, narrow(given)))
        for (const answer of answers) {
          assert.equal(answer.status, refusal === 'missing' ? 404 : 403, answer.text)
          assert.ok(!tells(answer, given), answer.text)
        }
      })
    }
  })
}
