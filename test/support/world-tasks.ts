import { listApprovals, requestApproval } from '#contract/approvals.ts'
import { createComment } from '#contract/comments.ts'
import {
  addArtifactReference,
  addTaskReference,
  addWorkspaceReference,
} from '#contract/external-references.ts'
import { createGoal, listGoals } from '#contract/goals.ts'
import { addRelation } from '#contract/relations.ts'
import type { RelationType } from '#contract/relations.ts'
import { createTaskType, listTaskTypes } from '#contract/task-types.ts'
import type { Make } from './world.ts'

/** What stands around the tasks of a tenant: types, relations, goals, comments, names elsewhere. */
export async function makeAroundTasks(
  make: Make,
  marker: string,
  things: { task: string; freeTask: string; artifact: string; workspace: string },
) {
  const { task, freeTask } = things
  const relate = async (type: RelationType, ref: string, toTask: string) =>
    (await make(addRelation, { params: { ref }, body: { type, toTask } })).id
  const comment = await make(createComment, {
    params: { ref: task },
    body: { body: `says ${marker}` },
  })
  return {
    ...(await makeTaskTypes(make, marker)),
    relation: await relate('spawned_by', task, freeTask),
    secondRelation: await relate('depends_on', task, freeTask),
    comment: comment.id,
    ...(await makeGoals(make, marker, things.workspace)),
    ...(await makeReferences(make, marker, things)),
  }
}

/** Two that are pending, for the holders of a role. */
export async function makeApprovals(
  make: Make,
  marker: string,
  { role, task, artifact }: { role: string; task: string; artifact: string },
) {
  const ask = (of: { taskId: string } | { artifactId: string }) =>
    make(requestApproval, { body: { ...of, requiredRoleId: role, comment: `please ${marker}` } })
  const approval = await ask({ taskId: task })
  await ask({ artifactId: artifact })
  const page = await make(listApprovals, { query: { limit: '1' } })
  return { approval: approval.id, approvalCursor: page.nextCursor ?? '' }
}

async function makeGoals(make: Make, marker: string, workspaceId: string) {
  const add = (title: string) =>
    make(createGoal, { body: { title: `${title} ${marker}`, criteria: [marker], workspaceId } })
  const goal = await add('goal')
  const second = await add('second goal')
  const page = await make(listGoals, { query: { limit: '1' } })
  return { goal: goal.id, secondGoal: second.id, goalCursor: page.nextCursor ?? '' }
}

async function makeReferences(
  make: Make,
  marker: string,
  { task, artifact, workspace }: { task: string; artifact: string; workspace: string },
) {
  const newReference = { system: 'tracker', type: 'issue', externalId: marker }
  const named = (name: string) => ({ ...newReference, externalId: `${name} ${marker}` })
  const ofTask = async (name: string) =>
    (await make(addTaskReference, { params: { ref: task }, body: named(name) })).id
  const ofWorkspace = async (name: string) =>
    (await make(addWorkspaceReference, { params: { id: workspace }, body: named(name) })).id
  const ofArtifact = async (name: string) =>
    (await make(addArtifactReference, { params: { id: artifact }, body: named(name) })).id
  return {
    newReference,
    keptReference: named('kept'),
    keptReferenceId: await ofTask('kept'),
    taskReference: await ofTask('one'),
    secondTaskReference: await ofTask('two'),
    workspaceReference: await ofWorkspace('three'),
    secondWorkspaceReference: await ofWorkspace('four'),
    artifactReference: await ofArtifact('five'),
    secondArtifactReference: await ofArtifact('six'),
  }
}

async function makeTaskTypes(make: Make, marker: string) {
  const newTaskType = {
    key: `type-${marker}`,
    displayName: `type ${marker}`,
    lifecycleSchema: {
      statuses: [
        { key: 'open', category: 'open' as const },
        { key: 'done', category: 'terminal_success' as const },
      ],
      transitions: [{ from: 'open', to: 'done' }],
      initialStatus: 'open',
      releaseStatus: 'open',
      completionStatus: 'done',
    },
  }
  await make(createTaskType, { body: newTaskType })
  await make(createTaskType, { body: newTaskType })
  const page = await make(listTaskTypes, { query: { limit: '1' } })
  return { newTaskType, taskTypeCursor: page.nextCursor ?? '' }
}
