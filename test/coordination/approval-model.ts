import type { Actor, Outcome, Task, World } from './model.ts'

/** A gate: of one revision of a task, asked of one person. */
export interface Approval {
  task: Task
  revision: number
  author: number
  decider: number
  status: 'pending' | 'approved' | 'rejected' | 'cancelled'
}

/** Changes what a task asks for. */
export function reviseTask(task: Task): Outcome {
  task.revision += 1
  task.version += 1
  return 'ok'
}

export function askApproval(world: World, actor: Actor, task: Task, decider: number): Outcome {
  if (task.status === 'completed') return 'task_already_completed'
  const { revision } = task
  world.approvals.push({ task, revision, author: actor.index, decider, status: 'pending' })
  return 'ok'
}

export function decideApproval(
  actor: Actor,
  approval: Approval,
  verb: 'approve' | 'reject' | 'withdraw',
): Outcome {
  const mayWithdraw = verb === 'withdraw' && approval.author === actor.index
  if (approval.decider !== actor.index && !mayWithdraw) return 'permission_denied'
  const isOver = approval.status === 'approved' && isStale(approval)
  const ends = approval.status === 'pending' || (verb === 'withdraw' && isOver)
  if (!ends) return 'approval_already_decided'
  if (verb === 'approve' && isStale(approval)) return 'version_conflict'
  const statuses = { approve: 'approved', reject: 'rejected', withdraw: 'cancelled' } as const
  approval.status = statuses[verb]
  return 'ok'
}

/** True while what was asked last of somebody is unanswered, or answered about an older revision. */
export function isGated(world: World, task: Task): boolean {
  const asked = world.approvals.filter((one) => one.task === task && one.status !== 'cancelled')
  return asked.some((one, index) => {
    const isLast = !asked.slice(index + 1).some(({ decider }) => decider === one.decider)
    if (one.status === 'rejected') return false
    return isStale(one) ? isLast : one.status === 'pending'
  })
}

function isStale({ task, revision }: Approval): boolean {
  return task.revision > revision
}
