import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** Task types, and what stands around tasks. */
export const TASKS_CASES: Readonly<Record<string, Case>> = {
  createTaskType: (_a, b) => [own({ body: { ...b.newTaskType, displayName: 'other' } })],
  listTaskTypes: (a) => [look(), look({ query: { cursor: a.taskTypeCursor } })],
  getTaskType: (a) => [foreign({ params: { key: a.newTaskType.key } })],
  getTaskTypeVersion: (a) => [foreign({ params: { key: a.newTaskType.key, version: '1' } })],
  addRelation: (a, b) => [
    foreign({ params: { ref: a.task }, body: { type: 'relates_to', toTask: b.task } }),
    foreign({ params: { ref: b.task }, body: { type: 'depends_on', toTask: a.task } }),
  ],
  listRelations: (a) => [foreign({ params: { ref: a.task } })],
  removeRelation: (a, b) => [
    foreign({ params: { ref: a.task, id: a.relation } }),
    foreign({ params: { ref: b.task, id: a.secondRelation } }),
  ],
  listTransitions: (a) => [foreign({ params: { ref: a.freeTask } })],
  createGoal: (a) => [
    own({ body: { title: 'other' } }),
    ...[{ workspaceId: a.workspace }, { ownerId: a.principal }, { parentGoalId: a.goal }].map(
      (place) => foreign({ body: { title: 'other', ...place } }),
    ),
  ],
  listGoals: (a) => [
    look(),
    look({ query: { cursor: a.goalCursor } }),
    own({ query: { ownerId: a.principal } }),
    foreign({ query: { parentGoalId: a.goal } }),
    foreign({ query: { workspaceId: a.workspace } }),
  ],
  getGoal: (a) => [foreign({ params: { id: a.goal } })],
  updateGoal: (a, b) => [
    foreign({ params: { id: a.goal }, ifMatch: 1, body: { title: 'taken' } }),
    ...[{ workspaceId: a.workspace }, { parentGoalId: a.secondGoal }, { ownerId: a.principal }].map(
      (body) => foreign({ params: { id: b.goal }, ifMatch: 1, body }),
    ),
  ],
  createComment: (a, b) => [
    foreign({ params: { ref: a.task }, body: { body: 'other' } }),
    foreign({ params: { ref: b.task }, body: { body: 'other', runId: a.run, fencingToken: 1 } }),
    foreign({ params: { ref: b.task }, body: { body: 'other', ...a.fence } }),
  ],
  listComments: (a) => [foreign({ params: { ref: a.task } })],
  getComment: (a) => [foreign({ params: { id: a.comment } })],
  updateComment: (a) => [foreign({ params: { id: a.comment }, ifMatch: 1, body: { body: 'x' } })],
  listCommentRevisions: (a) => [foreign({ params: { id: a.comment } })],
  addTaskReference: (a, b) => [
    foreign({ params: { ref: a.task }, body: b.newReference }),
    own({ params: { ref: b.task }, body: b.newReference }),
  ],
  listTaskReferences: (a) => [foreign({ params: { ref: a.task } })],
  removeTaskReference: (a, b) => [
    foreign({ params: { ref: a.task, referenceId: a.taskReference } }),
    foreign({ params: { ref: b.task, referenceId: a.secondTaskReference } }),
  ],
  addWorkspaceReference: (a) => [
    foreign({ params: { id: a.workspace }, body: { ...a.newReference, type: 'board' } }),
  ],
  listWorkspaceReferences: (a) => [foreign({ params: { id: a.workspace } })],
  removeWorkspaceReference: (a, b) => [
    foreign({ params: { id: a.workspace, referenceId: a.workspaceReference } }),
    foreign({ params: { id: b.workspace, referenceId: a.secondWorkspaceReference } }),
  ],
  addArtifactReference: (a) => [
    foreign({ params: { id: a.artifact }, body: { ...a.newReference, type: 'file' } }),
  ],
  listArtifactReferences: (a) => [foreign({ params: { id: a.artifact } })],
  removeArtifactReference: (a, b) => [
    foreign({ params: { id: a.artifact, referenceId: a.artifactReference } }),
    foreign({ params: { id: b.artifact, referenceId: a.secondArtifactReference } }),
  ],
  findExternalReference: (a) => [foreign({ query: a.keptReference })],
}
