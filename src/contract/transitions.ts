import { z } from 'zod'
import { TaskRef } from './common.ts'
import { route } from './route.ts'
import { StatusCategory } from './task-types.ts'

export const Transitions = z
  .strictObject({
    taskId: z.uuid(),
    status: z.string(),
    systemStatusCategory: StatusCategory,
    transitions: z.array(
      z.strictObject({
        status: z.string(),
        systemStatusCategory: StatusCategory,
        /** What makes the move: a change of `status`, or completing the task. */
        by: z.enum(['update', 'complete']),
      }),
    ),
  })
  .meta({ id: 'Transitions' })
export type Transitions = z.infer<typeof Transitions>

export const listTransitions = route({
  method: 'GET',
  path: '/api/v1/tasks/{ref}/transitions',
  summary: 'Where a task can go from its status',
  tag: 'Tasks',
  access: 'tasks.read',
  errors: ['not_found'],
  params: z.strictObject({ ref: TaskRef }),
  reply: Transitions,
})

export const routes = { listTransitions }
