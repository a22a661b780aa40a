import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { getTask, listTasks } from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { policyScenes, startAnswering } from '../../test/support/policy-scene.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { decisionPoint } from './decision-point.ts'
import { policyDecider } from './policy-decider.ts'

const db = await sharedDb()
const { scene } = await policyScenes(db)

const SUBJECT = { type: 'human', id: 'ann' }
const TENANT = { type: 'tenant', id: 't1' }

function candidates(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: `w${index}`,
    properties: { tenantId: 't1', workspaceIds: [`w${index}`] },
  }))
}

function wishOf(count: number) {
  return { type: 'workspace', tenantId: 't1', candidates: candidates(count) }
}

const pointAt = (url: string, timeoutSeconds = 3) =>
  decisionPoint({ url, apiKey: undefined, timeoutSeconds })

describe('a decision point', () => {
  it('that says something else than a decision lets nobody in', async (t) => {
    const here = await scene()
    const answers = ['{}', '[]', 'null', '{"evaluations":[{"decision":"yes"}]}', '<html>', '']
    for (const answer of answers) {
      const point = pointAt(await startAnswering(t, answer))
      const client = await here.clientOf(policyDecider({ db, point, cacheSeconds: 5 }))
      const reading = await codeOf(client, getTask, { params: { ref: here.tasks.leaf.id } })
      assert.equal(reading, 'policy_unavailable', answer)
      assert.equal(await codeOf(client, listTasks, {}), 'policy_unavailable', answer)
    }
  })

  it('that does not answer is waited for no longer than it was said', async (t) => {
    const here = await scene()
    const point = pointAt(await startAnswering(t, null), 0.2)
    const client = await here.clientOf(policyDecider({ db, point, cacheSeconds: 5 }))
    assert.equal(await codeOf(client, listTasks, {}), 'policy_unavailable')
  })

  it('that answers some of the questions has answered none', async (t) => {
    const yes = { decision: true }
    for (const evaluations of [[], [yes], [yes, yes, yes], [yes, {}]]) {
      const point = pointAt(await startAnswering(t, JSON.stringify({ evaluations })))
      await assert.rejects(() => point.allowed(SUBJECT, TENANT, ['tasks.read', 'tasks.write']), {
        code: 'policy_unavailable',
      })
    }
  })

  it('is asked for every page of a search, and not for ever', async (t) => {
    const url = await startAnswering(t, (_path, body) => {
      const { page } = JSON.parse(body) as { page?: { token: string } }
      const next = page === undefined ? { page: { next_token: 'two' } } : {}
      const id = page === undefined ? 'w0' : 'w1'
      return JSON.stringify({ results: [{ type: 'workspace', id }], ...next })
    })
    const found = await pointAt(url).search(SUBJECT, 'tasks.read', wishOf(3))
    assert.deepEqual(found, ['w0', 'w1'])
    const endless = await startAnswering(t, '{"results":[],"page":{"next_token":"more"}}')
    await assert.rejects(() => pointAt(endless).search(SUBJECT, 'tasks.read', wishOf(3)), {
      code: 'policy_unavailable',
    })
  })

  it('is told of many workspaces in several questions, and finds none that it was not told of', async (t) => {
    const told: number[] = []
    const url = await startAnswering(t, (_path, body) => {
      const { context } = JSON.parse(body) as { context: { candidates: { id: string }[] } }
      told.push(context.candidates.length)
      const results = ['w3', 'w3', 'w600', 'stranger'].map((id) => ({ type: 'workspace', id }))
      return JSON.stringify({ results: [...results, { type: 'task', id: 'w4' }] })
    })
    const found = await pointAt(url).search(SUBJECT, 'tasks.read', wishOf(1200))
    assert.deepEqual(found, ['w3', 'w600'])
    assert.deepEqual(told, [500, 500, 200])
  })

  it('may stand below a path', async (t) => {
    const paths: string[] = []
    const url = await startAnswering(t, (path) => {
      paths.push(path)
      return '{"evaluations":[{"decision":true}]}'
    })
    for (const address of [`${url}/stores/7`, `${url}/stores/7/`, url]) {
      await pointAt(address).allowed(SUBJECT, TENANT, ['tasks.read'])
    }
    const path = '/access/v1/evaluations'
    assert.deepEqual(paths, [`/stores/7${path}`, `/stores/7${path}`, path])
  })
})
