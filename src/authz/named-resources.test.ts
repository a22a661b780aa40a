import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controlPlaneRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { schemaOf } from '../../test/support/refusals.ts'
import { NAMING_FIELDS, namedResources, pathType } from './named-resources.ts'
import { isPlaceable } from './resource.sql.ts'

/** Fields that end like an id and name nothing that is decided about, and why. */
const NOT_DECIDED: Readonly<Record<string, string>> = {
  principalId: 'somebody who is dealt with, not a thing in a workspace',
  humanPrincipalId: 'the same',
  agentPrincipalId: 'the same',
  ownerPrincipalId: 'the same',
  ownerId: 'the same',
  assigneeId: 'the same',
  actorId: 'the same',
  assignedPrincipalId: 'somebody who is asked',
  requiredRoleId: 'whoever holds it is asked, and may hold it higher up',
  iamPrincipalId: 'of the issuer',
  iamTenantId: 'of the issuer',
  externalId: 'of another system',
  externalRef: 'of another system',
  correlationId: 'made up by the caller',
  snapshotId: 'made up by the caller',
  cliSessionId: 'made up by a harness',
  sessionId: "the caller's own, checked by the command",
  contentRef: "the caller's own upload, checked by the command",
  entityId: 'a filter of what is listed within reach',
  entityRef: 'a filter of what is listed within reach',
  skillId: 'a filter of what is listed within reach',
  parentId: 'a workspace in the routes of workspaces, see there',
}

const routes = Object.entries<Route>(controlPlaneRoutes)

describe('what a request is about', () => {
  it('is known for every path that names something', () => {
    const unknown = routes.flatMap(([name, route]) => {
      const named = pathType(route)
      return named && !isPlaceable(named.type) ? [`${name}: ${named.type}`] : []
    })
    assert.deepEqual(unknown, [])
  })

  it('is known for every field of a query or body that names something', () => {
    const unknown = routes.flatMap(([name, { query, body }]) =>
      [schemaOf(query), schemaOf(body)]
        .flatMap(({ properties = {} }) => Object.keys(properties))
        .filter((field) => /^(task|run|claim|supersedes|toTask)$|(Id|Ref)$/.test(field))
        .filter((field) => !(field in NAMING_FIELDS) && !(field in NOT_DECIDED))
        .map((field) => `${name}: ${field}`),
    )
    assert.deepEqual(unknown, [])
  })

  it('is each thing once, the path first', () => {
    const { addRelation, moveWorkspace, createTask } = controlPlaneRoutes
    const input = { query: {}, params: { ref: 'TASK-1' } }
    assert.deepEqual(namedResources(addRelation, { ...input, body: { toTask: 'TASK-2' } }), [
      { type: 'task', ref: 'TASK-1' },
      { type: 'task', ref: 'TASK-2' },
    ])
    assert.deepEqual(namedResources(addRelation, { ...input, body: { toTask: 'TASK-1' } }), [
      { type: 'task', ref: 'TASK-1' },
    ])
    const wish = { query: {}, params: { id: 's1' }, body: { workspaceId: 'w1', sessionId: 'x' } }
    assert.deepEqual(namedResources(controlPlaneRoutes.invokeSkill, wish), [
      { type: 'workspace', ref: 'w1' },
    ])
    const move = { query: {}, params: { id: 'w1' }, body: { parentId: 'w2' } }
    assert.deepEqual(namedResources(moveWorkspace, move), [
      { type: 'workspace', ref: 'w1' },
      { type: 'workspace', ref: 'w2' },
    ])
    const nowhere = { query: {}, params: {}, body: { title: 'x', workspaceId: null } }
    assert.deepEqual(namedResources(createTask, nowhere), [])
  })
})
