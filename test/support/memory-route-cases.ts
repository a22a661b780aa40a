import { randomUUID } from 'node:crypto'

/** What a route does with a namespace: shows or changes what is in it, or only tells that it is there. */
export type RouteKind = 'reads' | 'writes' | 'tells'

export interface MemoryCase {
  kind: RouteKind
  /** The request about a namespace, one that would be served to who may do everything. */
  input: (namespace: string) => { params?: object; query?: object; body?: object }
  /** The same on something that belongs to the workspace `hidden`. */
  foreign?: (namespace: string) => { params?: object; query?: object; body?: object }
  /** What is written before each request, because the request ends it. */
  before?: (namespace: string) => { path: string; body: object }
  /** Refused to who sees it not: `foreign` in one way, `missing` as if it were not there. */
  refusal?: 'foreign' | 'missing'
  /** What an answer holds that tells something hidden, where that is not its name. */
  says?: string
}

/** Stands in every text, key and name that only the workspace `hidden` sees. */
export const HIDDEN = 'quokka'
export const HIDDEN_KEY = `thing:${HIDDEN}`
export const HIDDEN_SCOPE = 'workspace:hidden'
export const HIDDEN_TRACE = `trace-of-${HIDDEN}`

/** A fact that everybody in the namespace sees. */
export const openObservation = {
  source: { system: 'test', external_id: 'open' },
  kind: 'note',
  assertions: [
    { assert: 'fact', fact: { subject: 'thing:seen', predicate: 'KNOWS', object: 'thing:other' } },
  ],
}

const scope = (namespace: string) => ({ scope: { namespace } })
const inQuery = (namespace: string) => ({ query: { namespace } })

const observation = (more: object = {}) => ({
  source: { system: 'test', external_id: randomUUID() },
  kind: 'note',
  content: 'something new',
  ...more,
})

/** The hidden observation that is there before every case. */
export const hiddenObservation = {
  source: { system: 'test', external_id: HIDDEN },
  kind: 'note',
  content: `What the ${HIDDEN} said`,
  scopes: [HIDDEN_SCOPE],
  assertions: [
    { assert: 'entity', entity: { key: HIDDEN_KEY, type: 'thing', title: `A ${HIDDEN}` } },
    {
      assert: 'fact',
      fact: { subject: HIDDEN_KEY, predicate: 'KNOWS', object: `${HIDDEN_KEY}:2` },
    },
    { assert: 'text', text: { key: `text:${HIDDEN}`, content: `A text about the ${HIDDEN}` } },
  ],
}

const snapshot = (namespace: string, more: object = {}) => ({
  namespace,
  source: `git-${randomUUID()}`,
  scope: 'a/b',
  snapshot_id: '1',
  observed_at: '2026-01-15T10:00:00Z',
  entities: [{ kind: 'file', key: 'file:a' }],
  ...more,
})

const about = (namespace: string) => ({ body: { ...scope(namespace), query: HIDDEN } })
const atKey = (namespace: string, more: object = {}) => ({
  body: { ...scope(namespace), key: HIDDEN_KEY, ...more },
})

/** A call of each route of memory that has to do with a namespace, by its operation id. */
export const MEMORY_CASES: Readonly<Record<string, MemoryCase>> = {
  recordObservation: {
    kind: 'writes',
    input: (namespace) => ({ body: { ...observation(), ...scope(namespace) } }),
    foreign: (namespace) => ({ body: { ...hiddenObservation, ...scope(namespace), scopes: [] } }),
    refusal: 'foreign',
  },
  recordObservations: {
    kind: 'writes',
    input: (namespace) => ({ body: { ...scope(namespace), observations: [observation()] } }),
  },
  eraseObservation: {
    kind: 'writes',
    input: (namespace) => ({
      params: { id: `obs-${'0'.repeat(24)}` },
      query: { namespace, ahead: 'true' },
    }),
    foreign: (namespace) => ({ params: { id: 'obs-HIDDEN' }, query: { namespace } }),
    refusal: 'missing',
  },
  listStreams: { kind: 'tells', input: inQuery },
  putDocument: {
    kind: 'writes',
    input: (namespace) => ({
      body: { ...scope(namespace), natural_key: `doc:${randomUUID()}`, content: 'text' },
    }),
    foreign: (namespace) => ({
      body: { ...scope(namespace), natural_key: `doc:${HIDDEN}`, content: 'over it' },
    }),
    refusal: 'foreign',
  },
  deleteDocument: {
    kind: 'writes',
    input: (namespace) => ({ query: { namespace, natural_key: 'doc:none' } }),
  },
  buildContext: { kind: 'reads', input: about },
  askMemory: { kind: 'reads', input: about },
  recallMemory: { kind: 'reads', input: about },
  diagnose: {
    kind: 'reads',
    input: (namespace) => ({
      body: { ...scope(namespace), query: HIDDEN, id: `node:${HIDDEN_KEY}` },
    }),
    says: '"returned"',
  },
  traverseTyped: {
    kind: 'reads',
    input: (namespace) => ({
      body: {
        ...scope(namespace),
        anchors: [{ value: HIDDEN_KEY }],
        traverse: [{ relation: 'KNOWS' }],
      },
    }),
  },
  readTrace: {
    kind: 'reads',
    input: (namespace) => ({ params: { id: 'ctx-TRACE' }, query: { namespace } }),
    refusal: 'missing',
  },
  search: { kind: 'reads', input: about },
  getNode: { kind: 'reads', input: atKey, refusal: 'missing' },
  getNeighbors: { kind: 'reads', input: atKey, refusal: 'missing' },
  shortestPath: {
    kind: 'reads',
    input: (namespace) => ({
      body: { ...scope(namespace), from: HIDDEN_KEY, to: `${HIDDEN_KEY}:2` },
    }),
    refusal: 'missing',
  },
  getCommunity: { kind: 'reads', input: atKey, refusal: 'missing' },
  reconcile: {
    kind: 'writes',
    input: (namespace) => ({ body: snapshot(namespace) }),
    foreign: (namespace) => ({
      body: snapshot(namespace, { entities: [{ kind: 'thing', key: HIDDEN_KEY }] }),
    }),
    refusal: 'foreign',
  },
  retain: {
    kind: 'writes',
    input: (namespace) => ({ body: { ...scope(namespace), content: 'something new' } }),
    foreign: (namespace) => ({
      body: { ...scope(namespace), content: 'over it', external_id: `text:${HIDDEN}` },
    }),
    refusal: 'foreign',
  },
  putFact: {
    kind: 'writes',
    input: (namespace) => ({ body: { ...scope(namespace), natural_key: 'thing:new' } }),
    foreign: (namespace) => ({ body: { ...scope(namespace), natural_key: HIDDEN_KEY } }),
    refusal: 'foreign',
  },
  invalidateFact: {
    kind: 'writes',
    input: (namespace) => ({ params: { id: 'fact-OPEN' }, body: scope(namespace) }),
    foreign: (namespace) => ({ params: { id: 'fact-HIDDEN' }, body: scope(namespace) }),
    refusal: 'missing',
  },
  deleteNode: {
    kind: 'writes',
    before: (namespace) => ({
      path: '/api/brain/facts',
      body: { ...scope(namespace), natural_key: 'thing:ending' },
    }),
    input: (namespace) => ({ query: { namespace, natural_key: 'thing:ending' } }),
    foreign: (namespace) => ({ query: { namespace, natural_key: HIDDEN_KEY } }),
    refusal: 'missing',
  },
  recordAudit: {
    kind: 'writes',
    input: (namespace) => ({ body: { ...scope(namespace), action: 'looked' } }),
  },
  readTrail: {
    kind: 'reads',
    input: (namespace) => ({ params: { id: HIDDEN_TRACE }, query: { namespace } }),
    refusal: 'missing',
  },
  consolidate: { kind: 'writes', input: inQuery },
  putNamespaceKinds: {
    kind: 'writes',
    input: (namespace) => ({ params: { ns: namespace }, body: {} }),
  },
  getNamespaceKinds: { kind: 'tells', input: (namespace) => ({ params: { ns: namespace } }) },
  listPacks: { kind: 'tells', input: inQuery },
  getPack: {
    kind: 'tells',
    before: (namespace) => ({
      path: '/api/memory/packages',
      body: { name: 'of-tests', version: '1', scope: 'tenant', namespace },
    }),
    input: (namespace) => ({ params: { ref: 'tenant:of-tests@1' }, query: { namespace } }),
  },
  queryEntities: {
    kind: 'reads',
    input: (namespace) => ({ body: { ...scope(namespace), kinds: ['thing'] } }),
  },
}

/** Routes that have to do with no namespace of the caller's, and why. */
export const WITHOUT_NAMESPACE: Readonly<Record<string, string>> = {
  health: 'public: whether the service answers',
  registerPack: 'the registry is for service credentials alone',
  getStats: 'about all namespaces, only for who reads them all',
}
