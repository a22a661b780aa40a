import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsonLog } from '#lib/log.ts'
import { policyFolder, startDecisionPoint } from '../../test/support/policies.ts'
import { createPolicyApp } from './app.ts'
import { readPolicies } from './cedar.ts'

const CEDAR = `
permit (principal, action == Action::"tasks.read", resource in Workspace::"w1")
when { principal.kind == "human" };
permit (principal in Group::"ops", action, resource in Tenant::"t1");
forbid (principal, action, resource in Workspace::"secret");
`
const GROUPS = [{ uid: { type: 'Principal', id: 'bob' }, parents: [{ type: 'Group', id: 'ops' }] }]

const question = (changes: object = {}) => ({
  subject: { type: 'human', id: 'ann', properties: { note: null, share: 0.5 } },
  action: { name: 'tasks.read' },
  resource: { type: 'task', id: 'x', properties: { tenantId: 't1', workspaceIds: ['w1'] } },
  ...changes,
})
const inside = (...workspaceIds: string[]) => ({
  resource: { type: 'task', id: 'x', properties: { tenantId: 't1', workspaceIds } },
})
const bob = { subject: { type: 'human', id: 'bob' } }
const LOG = jsonLog(
  () => {},
  () => new Date(),
)

describe('policies in Cedar', () => {
  it('decide by subject, action and where the resource stands', async (t) => {
    const folder = await policyFolder(t, {
      'a.cedar': CEDAR,
      'entities.json': JSON.stringify(GROUPS),
    })
    const { isAllowed } = await readPolicies(folder)
    const cases = [
      [question(), true],
      [question(inside('w2', 'w1')), true],
      [question(inside('w2')), false],
      [question(inside()), false],
      [question({ action: { name: 'tasks.write' } }), false],
      [question({ subject: { type: 'agent', id: 'ann' } }), false],
      [question({ ...bob, ...inside('w9'), action: { name: 'anything' } }), true],
      [question({ ...bob, ...inside() }), true],
      [question({ ...bob, resource: { type: 'task', id: 'x' } }), false],
      [question({ ...bob, ...inside('secret', 'w9') }), false],
      [question({ ...inside('secret', 'w1') }), false],
      [
        question({
          resource: {
            type: 'workspace',
            id: 'w1',
            properties: { tenantId: 't1', workspaceIds: ['w1'] },
          },
        }),
        true,
      ],
    ] as const
    for (const [one, expected] of cases) {
      assert.equal(isAllowed(one), expected, JSON.stringify(one))
    }
  })

  it('deny what any of them cannot be evaluated for, also one that forbids', async (t) => {
    const folder = await policyFolder(t, {
      'a.cedar': `permit (principal, action, resource);
        forbid (principal, action, resource) when { principal.level < 3 };`,
    })
    const { isAllowed } = await readPolicies(folder)
    const at = (level: unknown) =>
      isAllowed(question({ subject: { type: 'human', id: 'a', properties: { level } } }))
    assert.deepEqual([at(5), at(1), at('high'), at(undefined)], [true, false, false, false])
  })

  it('are refused at the start, with the file that is wrong', async (t) => {
    const refused = async (files: Record<string, string>, message: RegExp) => {
      const folder = await policyFolder(t, files)
      await assert.rejects(() => readPolicies(folder), message)
    }
    await refused({ 'bad.cedar': 'permit (principal, action' }, /bad\.cedar/)
    await refused({ 'readme.txt': '' }, /no \*\.cedar file/)
    await refused({ 'a.cedar': CEDAR, 'entities.json': '{' }, /entities\.json/)
    await refused({ 'a.cedar': CEDAR, 'entities.json': '[{"uid":1}]' }, /entities\.json/)
    await assert.rejects(() => readPolicies('/nowhere'), /Cannot read the policies/)
  })
})

/** Asks the decision point as somebody with its key. */
async function asked(t: Parameters<typeof startDecisionPoint>[0]) {
  const { url, apiKey } = await startDecisionPoint(t, CEDAR, GROUPS)
  return async (path: string, body: unknown, key = apiKey) => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'x-request-id': 'r-1' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    assert.equal(response.status === 401, response.headers.get('x-request-id') === null)
    return [response.status, await response.json()] as const
  }
}

describe('the decision point', () => {
  it('answers one question, several, and a search', async (t) => {
    const ask = await asked(t)
    assert.deepEqual(await ask('/access/v1/evaluation', question()), [200, { decision: true }])
    const { subject, resource } = question()
    const several = {
      subject,
      resource,
      evaluations: [{ action: { name: 'tasks.read' } }, { action: { name: 'tasks.write' } }],
    }
    assert.deepEqual(await ask('/access/v1/evaluations', several), [
      200,
      { evaluations: [{ decision: true }, { decision: false }] },
    ])
    const candidates = ['w1', 'w2'].map((id) => ({
      id,
      properties: { tenantId: 't1', workspaceIds: [id] },
    }))
    const search = { subject, action: { name: 'tasks.read' }, resource: { type: 'workspace' } }
    assert.deepEqual(
      await ask('/access/v1/search/resource', { ...search, context: { candidates } }),
      [200, { results: [{ type: 'workspace', id: 'w1' }] }],
    )
  })

  it('refuses what is no question, and who has no key', async (t) => {
    const ask = await asked(t)
    for (const [path, body] of [
      ['/access/v1/evaluation', '{'],
      ['/access/v1/evaluation', { subject: question().subject }],
      ['/access/v1/evaluations', { ...question(), evaluations: [] }],
      ['/access/v1/evaluations', { evaluations: [{ action: { name: 'x' } }] }],
      ['/access/v1/search/resource', question({ resource: {} })],
    ] as const) {
      assert.equal((await ask(path, body))[0], 400, JSON.stringify(body))
    }
    assert.equal((await ask('/access/v1/evaluation', question(), 'other'))[0], 401)
  })

  it('says where it answers what', async (t) => {
    const policies = await readPolicies(await policyFolder(t, { 'a.cedar': CEDAR }))
    const app = createPolicyApp({ policies, apiKey: undefined, log: LOG })
    const response = await app.request('http://pdp.test/.well-known/authzen-configuration')
    assert.deepEqual(await response.json(), {
      policy_decision_point: 'http://pdp.test',
      access_evaluation_endpoint: 'http://pdp.test/access/v1/evaluation',
      access_evaluations_endpoint: 'http://pdp.test/access/v1/evaluations',
      search_resource_endpoint: 'http://pdp.test/access/v1/search/resource',
    })
  })
})
