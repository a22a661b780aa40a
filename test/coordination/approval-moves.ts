import { askApproval, decideApproval, reviseTask } from './approval-model.ts'
import { suspendForApproval } from './model.ts'
import { actorOf, ctxOf, pick } from './picking.ts'
import type { Step } from './step.ts'
import type { Move, Told } from './story.ts'

type Of<K extends Step['kind']> = Extract<Step, { kind: K }>

export function reviseMove(told: Told, step: Of<'revise'>): Move | undefined {
  const picked = pick(told.world.tasks, told.ids.tasks, step.task)
  if (!picked) return undefined
  const [task, ref] = picked
  const { version } = task
  const description = `revision ${task.revision + 1}`
  const ctx = ctxOf(told, step.actor)
  return {
    expected: reviseTask(task),
    act: () => told.commands.revise(ctx, ref, { expectedVersion: version, description }),
  }
}

export function askMove(told: Told, step: Of<'ask'>): Move | undefined {
  const picked = pick(told.world.tasks, told.ids.tasks, step.task, (task) => {
    return !step.fits || task.status !== 'completed'
  })
  if (!picked) return undefined
  const [task, ref] = picked
  const ctx = ctxOf(told, step.actor)
  const { actorId: person } = ctxOf(told, step.decider)
  return {
    expected: askApproval(told.world, actorOf(step.actor), task, step.decider),
    act: () => told.commands.ask(ctx, ref, person),
    makes: 'approvals',
  }
}

export function decideMove(
  told: Told,
  step: Of<'approve' | 'reject' | 'withdraw'>,
): Move | undefined {
  const { kind, fits } = step
  const picked = pick(told.world.approvals, told.ids.approvals, step.approval, ({ status }) => {
    return !fits || status === 'pending'
  })
  if (!picked) return undefined
  const [approval, id] = picked
  const index = fits ? approval.decider : step.actor
  const ctx = ctxOf(told, index)
  return {
    expected: decideApproval(actorOf(index), approval, kind),
    act: () => told.commands[kind](ctx, id),
  }
}

export function suspendMove(told: Told, step: Of<'suspend for an approval'>): Move | undefined {
  const { world, ids } = told
  const picked = pick(world.runs, ids.runs, step.run, (run) => {
    return !step.fits || (run.owner === step.actor && run.status === 'running')
  })
  const asked = pick(world.approvals, ids.approvals, step.approval, ({ task }) => {
    return !step.fits || task === picked?.[0].claim.task
  })
  if (!picked || !asked) return undefined
  const [run, id] = picked
  const [approval, approvalId] = asked
  const token = run.claim.token + step.tokenOff
  const ctx = ctxOf(told, step.actor)
  return {
    expected: suspendForApproval(world, actorOf(step.actor), { run, token, approval }),
    act: () => told.commands.suspend(ctx, id, token, approvalId),
  }
}
