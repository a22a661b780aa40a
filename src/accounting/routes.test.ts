import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import { createApiKey } from '#contract/org.ts'
import { createPriceTable, getPriceTable, listPriceTables } from '#contract/price-tables.ts'
import { createProject } from '#contract/projects.ts'
import { startRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { reportUsage } from '#contract/usage-reports.ts'
import { getUsage } from '#contract/usage-totals.ts'
import type { UsageTotal } from '#contract/usage-totals.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

const entries = [{ model: 'large', input: '3.00', output: '15' }]

describe('price tables', () => {
  it('are versions that never change, in one currency', async () => {
    const { tenant, client } = await admin()
    assert.equal(
      await codeOf(client, getPriceTable, { params: { version: 'current' } }),
      'not_found',
    )
    const first = await call(client, createPriceTable, {
      body: { currency: 'EUR', entries, comment: 'as of the contract' },
    })
    assert.deepEqual(
      [first.version, first.entries[0]?.input, first.entries[0]?.reasoning],
      [1, '3', '15'],
    )
    const other = { body: { currency: 'USD', entries } }
    assert.equal(await codeOf(client, createPriceTable, other), 'invalid_request')
    const second = await call(client, createPriceTable, {
      body: { currency: 'EUR', entries: [], effectiveFrom: '2999-01-01T00:00:00+02:00' },
    })
    assert.equal(second.effectiveFrom, '2998-12-31T22:00:00.000Z')

    const inForce = await call(client, getPriceTable, { params: { version: 'current' } })
    assert.deepEqual(inForce, first)
    assert.deepEqual(await call(client, getPriceTable, { params: { version: '2' } }), second)
    const { items, nextCursor } = await call(client, listPriceTables, { query: { limit: '1' } })
    assert.deepEqual(items, [second])
    const rest = await call(client, listPriceTables, { query: { cursor: nextCursor ?? '' } })
    assert.deepEqual(rest.items, [first])
    const events = (await eventsOf(db, tenant.ctx)).filter(
      ({ entityType }) => entityType === 'price_table',
    )
    assert.deepEqual(
      events.map(({ type, payload }) => [type, payload['version'], payload['entries']]),
      [
        ['price_table.created', 1, 1],
        ['price_table.created', 2, 0],
      ],
    )
    await assert.rejects(
      db`update price_tables set comment = 'other' where tenant_id = ${tenant.ctx.tenantId}`,
      /a version never changes/,
    )
  })

  it('get the next versions in turn when many set prices at once', async () => {
    const { client } = await admin()
    const tables = await Promise.all(
      ['EUR', 'USD', 'EUR', 'USD'].map((currency) =>
        call(client, createPriceTable, { body: { currency, entries } }).catch(() => undefined),
      ),
    )
    const made = tables.filter((table) => table !== undefined)
    assert.deepEqual(new Set(made.map(({ version }) => version)), new Set([1, 2]))
    assert.equal(new Set(made.map(({ currency }) => currency)).size, 1)
  })

  it('are set by whoever may for the whole tenant, and refuse what is no price', async () => {
    const { tenant, client } = await admin()
    const reader = clientOf((await tenant.caller(['accounting.read'])).key)
    const body = { currency: 'EUR', entries }
    assert.equal(await codeOf(reader, createPriceTable, { body }), 'permission_denied')
    const [entry] = entries
    const bad = [
      { ...entry, input: '-1' },
      { ...entry, input: '1e3' },
      { ...entry, input: 'NaN' },
      { ...entry, output: '0.0000001' },
      { ...entry, model: 'a*b' },
      { ...entry, model: 'two\nlines' },
      { ...entry, model: 'turned\u202Ewords' },
      { ...entry, cacheRead: 1 },
    ]
    for (const wrong of bad) {
      const input = { body: { currency: 'EUR', entries: [wrong] } } as CallInput<
        typeof createPriceTable
      >
      assert.equal(await codeOf(client, createPriceTable, input), 'invalid_request')
    }
    assert.deepEqual((await call(client, listPriceTables, {})).items, [])
  })
})

/** Tells that a run of a new task in a workspace used so many tokens. */
async function use(
  client: ClientOptions,
  workspaceId: string | null,
  input: number,
  model = 'large',
) {
  const session = await call(client, openSession, { body: { clientName: 'test' } })
  const task = await call(client, createTask, { body: { title: 'work', workspaceId } })
  const claim = await call(client, claimTask, {
    params: { ref: task.id },
    body: { sessionId: session.id },
  })
  const { id: claimId, fencingToken } = claim
  const run = await call(client, startRun, {
    params: { ref: task.id },
    body: { claimId, fencingToken },
  })
  const lines = [{ model, input }]
  await call(client, reportUsage, {
    params: { id: run.id },
    body: { fencingToken, sequence: 1, lines },
  })
}

/**
 * A project above another one, with a workspace between and one outside: used are 1 in the upper one, 2
 * in the workspace between, 4 in the lower one, 8 outside and 16 nowhere.
 */
async function usedTree() {
  const { tenant, client } = await admin()
  await call(client, createPriceTable, { body: { currency: 'EUR', entries } })
  const add = async (name: string, parentId: string | null) =>
    (await call(client, createWorkspace, { body: { slug: name, name, parentId } })).id
  const top = await add('top', null)
  const between = await add('between', top)
  const below = await add('below', between)
  const outside = await add('outside', null)
  const project = async (workspaceId: string) =>
    (await call(client, createProject, { body: { workspaceId } })).id
  const upper = await project(top)
  const lower = await project(below)
  for (const [index, place] of [top, between, below, outside, null].entries()) {
    await use(client, place, 2 ** index, place === below ? 'unheard-of' : 'large')
  }
  return { tenant, client, top, between, below, outside, upper, lower }
}

async function sums(
  client: ClientOptions,
  query: NonNullable<CallInput<typeof getUsage>['query']>,
) {
  const { items } = await call(client, getUsage, { query })
  return items.map(({ totalTokens }) => totalTokens)
}

function byProject(items: readonly UsageTotal[]) {
  return Object.fromEntries(items.map(({ projectId, totalTokens }) => [projectId, totalTokens]))
}

describe('usage', () => {
  it('is added up in one sum, with what no price was known for', async () => {
    const { client } = await usedTree()
    const { items } = await call(client, getUsage, {})
    assert.deepEqual(
      items.map(({ totalTokens, cost, currency, unpricedTokens }) => [
        totalTokens,
        cost,
        currency,
        unpricedTokens,
      ]),
      [[31, '0.000081', 'EUR', 4]],
    )
    assert.deepEqual(await sums(client, { model: 'unheard-of' }), [4])
    assert.deepEqual(await sums(client, { model: 'other' }), [])
  })

  it('is kept apart by project, or with that of the projects below', async () => {
    const { client, upper, lower } = await usedTree()
    const grouped = async (query: object) =>
      byProject((await call(client, getUsage, { query: { groupBy: 'project', ...query } })).items)

    assert.deepEqual(await grouped({}), { [upper]: 3, [lower]: 4, null: 24 })
    assert.deepEqual(await grouped({ includeSubprojects: 'true' }), {
      [upper]: 7,
      [lower]: 4,
      null: 24,
    })
    assert.deepEqual(await sums(client, { projectId: upper }), [3])
    assert.deepEqual(await sums(client, { projectId: upper, includeSubprojects: 'true' }), [7])
    assert.deepEqual(await grouped({ projectId: lower, includeSubprojects: 'true' }), {
      [lower]: 4,
    })
  })

  it('is kept apart by agent, workspace, model, day and month', async () => {
    const { tenant, client, top, between } = await usedTree()
    const one = async (groupBy: 'agent' | 'workspace' | 'model' | 'day' | 'month') =>
      (await call(client, getUsage, { query: { groupBy } })).items
    const [mine] = await one('agent')
    assert.deepEqual([mine?.principalId, mine?.totalTokens], [tenant.ctx.actorId, 31])
    const places = await one('workspace')
    assert.equal(places.find(({ workspaceId }) => workspaceId === null)?.totalTokens, 16)
    assert.equal(places.find(({ workspaceId }) => workspaceId === between)?.totalTokens, 2)
    assert.deepEqual(
      (await one('model')).map(({ provider, model, totalTokens }) => [
        provider,
        model,
        totalTokens,
      ]),
      [
        [null, 'large', 27],
        [null, 'unheard-of', 4],
      ],
    )
    // Midnight may have passed meanwhile.
    const days = (await one('day')).map(({ day = '' }) => day)
    const months = (await one('month')).map(({ month }) => month)
    assert.deepEqual(months, [...new Set(days.map((day) => day.slice(0, 7)))])
    assert.deepEqual(await sums(client, { from: days[0] ?? '', to: days.at(-1) ?? '' }), [31])
    assert.deepEqual(await sums(client, { to: '2020-01-01' }), [])
    assert.deepEqual(await sums(client, { workspaceId: top, includeDescendants: 'true' }), [7])
    const reversed = { query: { from: '2020-01-02', to: '2020-01-01' } }
    assert.equal(await codeOf(client, getUsage, reversed), 'invalid_request')
  })

  it('comes in pages whose cursors are of this very listing', async () => {
    const { client } = await usedTree()
    const query = { groupBy: 'workspace', limit: '2' } as const
    const seen: (string | null | undefined)[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof call<typeof getUsage>>> = await call(client, getUsage, {
        query: { ...query, ...(cursor === null ? {} : { cursor }) },
      })
      seen.push(...page.items.map(({ workspaceId }) => workspaceId))
      assert.ok(page.items.length <= 2)
      cursor = page.nextCursor
    } while (cursor !== null)
    assert.equal(seen.length, 5)
    assert.equal(new Set(seen).size, 5)

    const { nextCursor } = await call(client, getUsage, { query })
    const other = { query: { groupBy: 'model', cursor: nextCursor ?? '' } } as const
    assert.equal(await codeOf(client, getUsage, other), 'invalid_cursor')
    const forged = Buffer.from(nextCursor?.slice(4) ?? '', 'base64url').toString()
    const [listing] = JSON.parse(forged) as [string]
    for (const key of ['\0', '\uD800', 7]) {
      const text = Buffer.from(JSON.stringify([listing, key])).toString('base64url')
      const input = { query: { ...query, cursor: `kc1_${text}` } }
      assert.equal(await codeOf(client, getUsage, input), 'invalid_cursor')
    }
  })

  it('shows a limited key what was used within its workspace', async () => {
    const { tenant, client, between, lower } = await usedTree()
    const { key } = await call(client, createApiKey, {
      params: { id: tenant.ctx.actorId },
      body: {
        name: 'limited',
        permissions: ['accounting.read', 'projects.read'],
        workspaceId: between,
      },
    })
    const limited = clientOf(key ?? '')
    assert.deepEqual(await sums(limited, {}), [6])
    for (const includeSubprojects of ['true', 'false'] as const) {
      const query = { groupBy: 'project', includeSubprojects } as const
      const { items } = await call(limited, getUsage, { query })
      assert.deepEqual(byProject(items), { null: 2, [lower]: 4 })
    }
  })

  it('is shown to whoever may read accounts', async () => {
    const { tenant } = await usedTree()
    const other = clientOf((await tenant.caller(['tasks.read'])).key)
    assert.equal(await codeOf(other, getUsage, {}), 'permission_denied')
  })
})
