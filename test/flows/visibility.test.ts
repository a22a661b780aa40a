import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getContext } from '#contract/context.ts'
import { recordObservation } from '#contract/observations.ts'
import type { Permission } from '#contract/permissions.ts'
import { createTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { wholeStrata } from '../support/strata.ts'

const AGENT: Permission[] = [
  'tasks.read',
  'tasks.write',
  'events.read',
  'workspaces.read',
  'observations.write',
]

interface Focus {
  task?: string
  workspaceId?: string
}

/**
 * A tree of a root with two children, a task in the first, one in the second and one in neither; two
 * agents with the same rights.
 */
async function scene(t: TestContext) {
  const { tenant, clientOf, deliver } = await wholeStrata(t)
  const { client: admin, caller } = await tenant()
  const addWorkspace = async (slug: string, parentId?: string) =>
    (await call(admin, createWorkspace, { body: { slug, name: slug, parentId } })).id
  const addTask = async (workspaceId?: string) =>
    (await call(admin, createTask, { body: { title: 'Release the payments', workspaceId } }))
      .publicId
  const root = await addWorkspace('root')
  const payments = await addWorkspace('payments', root)
  const shipping = await addWorkspace('shipping', root)
  return {
    root,
    payments,
    shipping,
    deliver,
    inPayments: await addTask(payments),
    inShipping: await addTask(shipping),
    nowhere: await addTask(),
    ada: clientOf((await caller(AGENT)).key),
    boris: clientOf((await caller(AGENT)).key),
  }
}

const RULE = 'Payments are frozen while the ledger is being closed'

/** Whether the pack of this reader, with this focus, holds what was said. */
async function sees(reader: ClientOptions, focus: Focus): Promise<boolean> {
  const body = { query: 'payments frozen ledger closed', ...focus }
  const { memory, memoryStatus } = await call(reader, getContext, { body })
  assert.equal(memoryStatus, 'ok')
  return JSON.stringify(memory?.['sections']).includes(RULE)
}

/** Says it as the first agent, lets the adapter work, and answers who sees it from where. */
async function said(t: TestContext, where: (at: Awaited<ReturnType<typeof scene>>) => object) {
  const at = await scene(t)
  const body = { kind: 'decision', content: RULE, ...where(at) }
  await call(at.ada, recordObservation, { body })
  await at.deliver()
  const from = async (focus: Focus) => [await sees(at.ada, focus), await sees(at.boris, focus)]
  return {
    fromPayments: [await from({ task: at.inPayments }), await from({ workspaceId: at.payments })],
    fromShipping: [await from({ task: at.inShipping }), await from({ workspaceId: at.shipping })],
    fromRoot: await from({ workspaceId: at.root }),
    fromNowhere: [await from({}), await from({ task: at.nowhere })],
  }
}

const BOTH = [true, true]
const NEITHER = [false, false]
const ITS_AUTHOR = [true, false]

describe('what one agent records, delivered by the adapter', () => {
  it('on a task is seen by everybody there, and beside it not even by its author', async (t) => {
    assert.deepEqual(await said(t, ({ inPayments }) => ({ task: inPayments })), {
      fromPayments: [BOTH, BOTH],
      fromShipping: [NEITHER, NEITHER],
      fromRoot: NEITHER,
      fromNowhere: [BOTH, BOTH],
    })
  })

  it('in an ancestor is seen in every workspace below it', async (t) => {
    assert.deepEqual(await said(t, ({ root }) => ({ workspaceId: root })), {
      fromPayments: [BOTH, BOTH],
      fromShipping: [BOTH, BOTH],
      fromRoot: BOTH,
      fromNowhere: [BOTH, BOTH],
    })
  })

  it('in no workspace is seen everywhere', async (t) => {
    assert.deepEqual(await said(t, ({ nowhere }) => ({ task: nowhere })), {
      fromPayments: [BOTH, BOTH],
      fromShipping: [BOTH, BOTH],
      fromRoot: BOTH,
      fromNowhere: [BOTH, BOTH],
    })
  })

  it('as private is seen by its author alone', async (t) => {
    const isPrivate = { data: { visibility: 'private' } }
    assert.deepEqual(await said(t, ({ inPayments }) => ({ task: inPayments, ...isPrivate })), {
      fromPayments: [ITS_AUTHOR, ITS_AUTHOR],
      fromShipping: [ITS_AUTHOR, ITS_AUTHOR],
      fromRoot: ITS_AUTHOR,
      fromNowhere: [ITS_AUTHOR, ITS_AUTHOR],
    })
  })
})
