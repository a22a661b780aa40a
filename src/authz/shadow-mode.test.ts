import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { createPrincipal, getMe } from '#contract/org.ts'
import { createTask, getTask, listTasks } from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { startDecisionPoint } from '../../test/support/policies.ts'
import { policyScenes } from '../../test/support/policy-scene.ts'
import { tokenClients } from '../../test/support/token-clients.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { waitFor } from '../../test/support/wait.ts'
import { shadowDecider } from './shadow-decider.ts'
import type { Divergence } from './shadow-decider.ts'

const db = await sharedDb()
const { issuer, scene } = await policyScenes(db)

/** The scene in shadow mode, with everything that was counted. */
async function shadowed(t: TestContext, cedar: string, permissions: string[]) {
  const here = await scene({ permissions })
  const { point, stop } = await startDecisionPoint(t, cedar)
  const seen = { checked: 0, diverged: 0, unavailable: 0, skipped: 0 }
  const count = (name: keyof typeof seen) => () => void (seen[name] += 1)
  const divergences: Omit<Divergence, 'requestId'>[] = []
  const decide = shadowDecider({
    db,
    point,
    cacheSeconds: 0,
    counts: {
      checked: count('checked'),
      diverged: ({ policy, permission, route }) => {
        divergences.push({ policy, permission, route })
        seen.diverged += 1
      },
      unavailable: count('unavailable'),
      skipped: count('skipped'),
    },
  })
  const settled = (total: number) =>
    waitFor(() => Promise.resolve(seen.checked + seen.unavailable === total))
  const client = await here.clientOf(decide)
  return { ...here, seen, divergences, stop, settled, client, decide }
}

describe('shadow mode', () => {
  it('lets the binding decide and counts where the decision point differs', async (t) => {
    const permitReads = 'permit (principal, action == Action::"tasks.read", resource);'
    const { client, seen, divergences, settled } = await shadowed(t, permitReads, [
      'tasks.read',
      'tasks.write',
    ])
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    await settled(1)
    assert.deepEqual(seen, { checked: 1, diverged: 0, unavailable: 0, skipped: 0 })
    assert.equal(await codeOf(client, createTask, { body: { title: 'x' } }), 'ok')
    await settled(2)
    assert.deepEqual(seen, { checked: 2, diverged: 1, unavailable: 0, skipped: 0 })
    assert.deepEqual(divergences, [
      { policy: 'denies', permission: 'tasks.write', route: 'POST /api/v1/tasks' },
    ])
  })

  it('counts too where the decision point would allow what the binding does not', async (t) => {
    const { client, seen, settled } = await shadowed(t, 'permit (principal, action, resource);', [
      'tasks.read',
    ])
    const made = { body: { kind: 'agent', displayName: 'x' } } as const
    assert.equal(await codeOf(client, createPrincipal, made), 'permission_denied')
    await settled(1)
    assert.equal(seen.diverged, 1)
  })

  it('asks about the very thing, as policy mode would', async (t) => {
    const here = await scene({ permissions: ['tasks.read'] })
    const inside = `permit (principal, action, resource in Workspace::"${here.root.id}");`
    const { point } = await startDecisionPoint(t, inside)
    const told: string[] = []
    const decide = shadowDecider({
      db,
      point,
      cacheSeconds: 5,
      counts: {
        checked: () => told.push('checked'),
        diverged: ({ policy }) => told.push(policy),
        unavailable: () => told.push('unavailable'),
        skipped: () => told.push('skipped'),
      },
    })
    const client = await here.clientOf(decide)
    const reading = (ref: string) => codeOf(client, getTask, { params: { ref } })
    assert.equal(await reading(here.tasks.leaf.id), 'ok')
    await waitFor(() => Promise.resolve(told.length === 1))
    assert.equal(await reading(here.tasks.other.id), 'ok')
    await waitFor(() => Promise.resolve(told.length === 3))
    assert.deepEqual(told, ['checked', 'checked', 'denies'])
  })

  it('goes on without a decision point, and skips what it does not decide about', async (t) => {
    const { client, seen, settled, stop, tenant, decide } = await shadowed(
      t,
      'permit (principal, action, resource);',
      ['tasks.read'],
    )
    await stop()
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    await settled(1)
    assert.deepEqual(seen, { checked: 0, diverged: 0, unavailable: 1, skipped: 0 })
    assert.equal(await codeOf(client, getMe, {}), 'ok')
    const byKey = tokenClients(db, issuer.url, { decide }).clientOf(tenant.key)
    assert.equal(await codeOf(byKey, listTasks, {}), 'ok')
    assert.equal(seen.skipped, 2)
  })
})
