import * as relations from '#contract/relations.ts'
import * as taskTypes from '#contract/task-types.ts'
import * as tasks from '#contract/tasks.ts'
import type { Walk } from './walk.ts'

export async function walkTaskTypes({ make, kept }: Walk): Promise<void> {
  await make(taskTypes.createTaskType, {
    body: {
      key: 'note',
      displayName: kept('name of a task type'),
      description: kept('description of a task type'),
      instructions: kept('instructions of a task type'),
      lifecycleSchema: {
        statuses: [
          { key: 'open', category: 'open' },
          { key: 'done', category: 'terminal_success' },
        ],
        transitions: [{ from: 'open', to: 'done' }],
        initialStatus: 'open',
        releaseStatus: 'open',
        completionStatus: 'done',
      },
    },
  })
}

export async function walkTask({ make, told, kept }: Walk, workspaceId: string) {
  const task = await make(tasks.createTask, {
    body: {
      title: told('title of a task'),
      description: kept('description of a task'),
      customFields: { note: kept('custom field of a task'), [kept('name of a custom field')]: 1 },
      acceptance: [kept('acceptance of a task')],
      evidence: [kept('evidence of a task'), { note: kept('evidence of a task, as an object') }],
      workspaceId,
    },
  })
  await walkRelations({ make, told, kept }, task.id)
  return await make(tasks.updateTask, {
    params: { ref: task.publicId },
    ifMatch: task.version + 2,
    body: { title: kept('later title of a task'), customFields: { note: kept('later field') } },
  })
}

async function walkRelations({ make }: Walk, ref: string): Promise<void> {
  const other = await make(tasks.createTask, { body: { title: 'Another' } })
  const relation = await make(relations.addRelation, {
    params: { ref },
    body: { type: 'relates_to', toTask: other.id },
  })
  await make(relations.removeRelation, { params: { ref, id: relation.id } })
}
