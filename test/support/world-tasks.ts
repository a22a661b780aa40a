import { addRelation } from '#contract/relations.ts'
import type { RelationType } from '#contract/relations.ts'
import { createTaskType, listTaskTypes } from '#contract/task-types.ts'
import type { Make } from './world.ts'

/** What stands around the tasks of a tenant: their types, and what they are related to. */
export async function makeAroundTasks(
  make: Make,
  marker: string,
  { task, freeTask }: { task: string; freeTask: string },
) {
  const types = await makeTaskTypes(make, marker)
  const relate = async (type: RelationType, ref: string, toTask: string) =>
    (await make(addRelation, { params: { ref }, body: { type, toTask } })).id
  return {
    ...types,
    relation: await relate('spawned_by', task, freeTask),
    secondRelation: await relate('depends_on', task, freeTask),
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
