import * as comments from '#contract/comments.ts'
import * as references from '#contract/external-references.ts'
import * as goals from '#contract/goals.ts'
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
  await walkAround({ make, told, kept }, task.id)
  return await make(tasks.updateTask, {
    params: { ref: task.publicId },
    ifMatch: task.version + 2,
    body: { title: kept('later title of a task'), customFields: { note: kept('later field') } },
  })
}

async function walkAround(walk: Walk, ref: string): Promise<void> {
  const { make, kept } = walk
  const other = await make(tasks.createTask, { body: { title: 'Another' } })
  const relation = await make(relations.addRelation, {
    params: { ref },
    body: { type: 'relates_to', toTask: other.id },
  })
  await make(relations.removeRelation, { params: { ref, id: relation.id } })
  const { id } = await make(comments.createComment, {
    params: { ref },
    body: { body: kept('text of a comment') },
  })
  await make(comments.updateComment, {
    params: { id },
    ifMatch: 1,
    body: { body: kept('later text of a comment') },
  })
  const reference = await make(references.addTaskReference, {
    params: { ref },
    body: {
      system: kept('system of a reference'),
      type: kept('type of a reference'),
      externalId: kept('name of a task elsewhere'),
      url: `https://example.org/${kept('address of a reference')}`,
    },
  })
  await make(references.removeTaskReference, { params: { ref, referenceId: reference.id } })
  await walkGoals(walk)
}

async function walkGoals({ make, told, kept }: Walk): Promise<void> {
  const goal = await make(goals.createGoal, {
    body: {
      title: told('title of a goal'),
      description: kept('description of a goal'),
      criteria: [kept('criterion of a goal')],
      createdFrom: told('what a goal was made from'),
    },
  })
  await make(goals.updateGoal, {
    params: { id: goal.id },
    ifMatch: goal.version,
    body: { title: kept('later title of a goal'), status: 'achieved' },
  })
}
