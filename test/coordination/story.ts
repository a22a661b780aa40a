import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { askMove, decideMove, reviseMove, suspendMove } from './approval-moves.ts'
import * as model from './model.ts'
import type { Outcome, World } from './model.ts'
import { actorOf, ctxOf, pick } from './picking.ts'
import { commandsOf } from './replay.ts'
import type { Done } from './replay.ts'
import type { RunWrite, Step } from './step.ts'

/** The ids of what the model has, in the same order. */
interface Ids {
  sessions: string[]
  tasks: string[]
  claims: string[]
  runs: string[]
  approvals: string[]
}

export interface Story {
  world: World
  ids: Ids
  /** `<kind of step>: <outcome>` of every step that was taken. */
  outcomes: string[]
}

export interface Told extends Story {
  actors: readonly Ctx[]
  commands: ReturnType<typeof commandsOf>
}

/** What a step should come to, and how to do it for real; undefined when there is nothing to pick. */
export interface Move {
  expected: Outcome
  act: () => Promise<Done>
  /** Where what it made belongs. */
  makes?: keyof Ids
}

/** A step at which the database did something else than the model. */
export class Divergence extends Error {
  override name = 'Divergence'
}

/**
 * Tells a story to the model and to the database, step by step. Throws {@link Divergence} at the first
 * outcome that differs. The actors: two who work, one who also manages, and two who decide.
 */
export async function tell(
  db: Database,
  actors: readonly Ctx[],
  steps: readonly Step[],
): Promise<Story> {
  const ids: Ids = { sessions: [], tasks: [], claims: [], runs: [], approvals: [] }
  const story: Story = { world: model.newWorld(), ids, outcomes: [] }
  const told: Told = { ...story, actors, commands: commandsOf(db) }
  for (const [index, step] of steps.entries()) {
    const move = moveOf(told, step)
    if (!move) continue
    const { outcome, id } = await move.act()
    if (outcome !== move.expected) {
      const what = `step ${index} (${JSON.stringify(step)})`
      throw new Divergence(`${what}: ${outcome} instead of ${move.expected}`)
    }
    story.outcomes.push(`${step.kind}: ${outcome}`)
    if (move.makes && outcome === 'ok') ids[move.makes].push(id ?? '')
  }
  return story
}

/** How each kind of step is made. */
const MOVES: { [K in Step['kind']]: (told: Told, step: Of<K>) => Move | undefined } = {
  'create task': createMove,
  reap: ({ world, commands }) => ({ expected: model.reap(world), act: () => commands.reap() }),
  claim: taskMove,
  complete: taskMove,
  'open session': sessionMove,
  'close session': sessionMove,
  'beat session': sessionMove,
  'session lease ends': sessionMove,
  'claim lease ends': claimMove,
  'beat claim': claimMove,
  release: claimMove,
  reclaim: claimMove,
  'start run': startMove,
  checkpoint: runMove,
  action: runMove,
  suspend: runMove,
  succeed: runMove,
  'succeed and complete': runMove,
  fail: runMove,
  cancel: runMove,
  revise: reviseMove,
  ask: askMove,
  approve: decideMove,
  reject: decideMove,
  withdraw: decideMove,
  'suspend for an approval': suspendMove,
}

function moveOf(told: Told, step: Step): Move | undefined {
  return MOVES[step.kind](told, step as never)
}

function createMove(told: Told): Move {
  const act = () => told.commands.createTask(ctxOf(told, 2))
  return { expected: model.createTask(told.world), act, makes: 'tasks' }
}

type Of<K extends Step['kind']> = Extract<Step, { kind: K }>

function sessionMove(
  told: Told,
  step: Of<'open session' | 'close session' | 'beat session' | 'session lease ends'>,
): Move | undefined {
  const { world, commands } = told
  if (step.kind === 'open session') {
    const expected = model.openSession(world, actorOf(step.actor))
    return { expected, act: () => commands.openSession(ctxOf(told, step.actor)), makes: 'sessions' }
  }
  const picked = pick(world.sessions, told.ids.sessions, step.session)
  if (!picked) return undefined
  const [session, id] = picked
  if (step.kind === 'session lease ends') {
    session.isOver = true
    return { expected: 'ok', act: () => commands.endLease(ctxOf(told, 2), 'sessions', id) }
  }
  const ctx = ctxOf(told, step.actor)
  const actor = actorOf(step.actor)
  return step.kind === 'close session'
    ? {
        expected: model.closeSession(world, actor, session),
        act: () => commands.closeSession(ctx, id),
      }
    : {
        expected: model.heartbeatSession(actor, session),
        act: () => commands.beatSession(ctx, id),
      }
}

function taskMove(told: Told, step: Of<'claim' | 'complete'>): Move | undefined {
  const { world, ids, commands } = told
  const picked = pick(world.tasks, ids.tasks, step.task, (task) => {
    return !step.fits || task.status !== 'completed'
  })
  if (!picked) return undefined
  const [task, ref] = picked
  const ctx = ctxOf(told, step.actor)
  const actor = actorOf(step.actor)
  if (step.kind === 'claim') {
    const session = pick(world.sessions, ids.sessions, step.session, (one) => {
      return !step.fits || (one.owner === step.actor && one.status === 'active' && !one.isOver)
    })
    if (!session) return undefined
    const expected = model.claimTask(world, actor, task, session[0])
    return { expected, act: () => commands.claim(ctx, ref, session[1]), makes: 'claims' }
  }
  const shown = step.shows
    ? pick(world.claims, ids.claims, step.claim, (claim) => !step.fits || claim.task === task)
    : undefined
  const token = shown && shown[0].token + step.tokenOff
  const fence = shown && { claimId: shown[1], fencingToken: token ?? 0 }
  const { version } = task
  const claim = shown && { claim: shown[0], token: token ?? 0 }
  const expected = model.completeTask(world, actor, task, claim)
  return { expected, act: () => commands.complete(ctx, ref, version, fence) }
}

function claimMove(
  told: Told,
  step: Of<'claim lease ends' | 'beat claim' | 'release' | 'reclaim'>,
): Move | undefined {
  const { world, commands } = told
  const picked = pick(world.claims, told.ids.claims, step.claim, (claim) => {
    return step.kind === 'claim lease ends' || !step.fits || claim.owner === step.actor
  })
  if (!picked) return undefined
  const [claim, id] = picked
  if (step.kind === 'claim lease ends') {
    claim.isOver = true
    return { expected: 'ok', act: () => commands.endLease(ctxOf(told, 2), 'claims', id) }
  }
  const ctx = ctxOf(told, step.actor)
  const actor = actorOf(step.actor)
  const token = claim.token + step.tokenOff
  if (step.kind === 'reclaim') {
    return { expected: model.reclaimClaim(world, claim), act: () => commands.reclaim(ctx, id) }
  }
  return step.kind === 'release'
    ? {
        expected: model.releaseClaim(world, actor, { claim, token }),
        act: () => commands.release(ctx, id, token),
      }
    : {
        expected: model.heartbeatClaim(actor, { claim, token }),
        act: () => commands.beatClaim(ctx, id, token),
      }
}

function startMove(told: Told, step: Of<'start run'>): Move | undefined {
  const { world, ids, commands } = told
  const claim = pick(world.claims, ids.claims, step.claim, (one) => {
    return !step.fits || (one.owner === step.actor && model.isLive(one))
  })
  const task = pick(world.tasks, ids.tasks, step.task, (one) => {
    return !step.fits || one === claim?.[0].task
  })
  if (!task || !claim) return undefined
  const token = claim[0].token + step.tokenOff
  const fence = { claimId: claim[1], fencingToken: token }
  const shown = { claim: claim[0], token }
  return {
    expected: model.startRun(world, actorOf(step.actor), task[0], shown),
    act: () => commands.startRun(ctxOf(told, step.actor), task[1], fence),
    makes: 'runs',
  }
}

function runMove(told: Told, step: Of<RunWrite>): Move | undefined {
  const { world, commands } = told
  const picked = pick(world.runs, told.ids.runs, step.run, (run) => {
    return !step.fits || (run.owner === step.actor && run.status === 'running')
  })
  if (!picked) return undefined
  const [run, id] = picked
  const ctx = ctxOf(told, step.actor)
  const actor = actorOf(step.actor)
  const token = run.claim.token + step.tokenOff
  const succeed = (completesTask: boolean): Lazy => [
    () => model.succeedRun(world, actor, run, { token, completesTask }),
    () => commands.succeed(ctx, id, token, completesTask),
  ]
  const moves: Record<RunWrite, Lazy> = {
    checkpoint: [
      () => model.writeRun(actor, run, token),
      () => commands.checkpoint(ctx, id, token),
    ],
    action: [() => model.writeRun(actor, run, token), () => commands.action(ctx, id, token)],
    suspend: [
      () => model.suspendRun(world, actor, run, token),
      () => commands.suspend(ctx, id, token),
    ],
    succeed: succeed(false),
    'succeed and complete': succeed(true),
    fail: [() => model.stopRun(actor, run, 'failed'), () => commands.fail(ctx, id)],
    cancel: [() => model.stopRun(actor, run, 'cancelled'), () => commands.cancel(ctx, id)],
  }
  const [expect, act] = moves[step.kind]
  return { expected: expect(), act }
}

/** What the model says when asked, and how to do it. */
type Lazy = [() => Outcome, () => Promise<Done>]
