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
}
