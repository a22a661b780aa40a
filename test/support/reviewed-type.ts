import type { z } from 'zod'
import type { NewTaskType } from '#contract/task-types.ts'

/** A type of tasks that are reviewed before they are done, with two custom fields. */
export const REVIEWED: z.input<typeof NewTaskType> = {
  key: 'reviewed',
  displayName: 'Reviewed work',
  lifecycleSchema: {
    statuses: [
      { key: 'ready', category: 'open' },
      { key: 'doing', category: 'active' },
      { key: 'review', category: 'blocked', displayName: 'In review' },
      { key: 'done', category: 'terminal_success' },
    ],
    transitions: [
      { from: 'doing', to: 'review' },
      { from: 'review', to: 'ready' },
      { from: 'review', to: 'done' },
    ],
    initialStatus: 'ready',
    claimStatus: 'doing',
    releaseStatus: 'ready',
    completionStatus: 'done',
  },
  customFieldsSchema: {
    type: 'object',
    required: ['severity'],
    additionalProperties: false,
    properties: {
      severity: { enum: ['low', 'high'] },
      estimate: { type: 'integer', minimum: 1 },
    },
  },
  instructions: 'Ask for a review before you finish.',
}
