import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { compileSchema } from '#lib/json-schema.ts'
import { failRun } from '#runs/stop-run.ts'
import { cancelInvocation } from '#invocations/cancel-invocation.ts'
import { claimInvocation } from '#invocations/claim-invocation.ts'
import { completeInvocation } from '#invocations/complete-invocation.ts'
import { failInvocation } from '#invocations/fail-invocation.ts'
import { heartbeatInvocation } from '#invocations/heartbeat-invocation.ts'
import { invokeSkill } from '#invocations/invoke-skill.ts'
import { reapInvocations } from '#invocations/reap-invocations.ts'
import { ownDb } from '../support/db.ts'
import { eventsOf } from '../support/leases.ts'
import * as model from './calls.ts'
import { callScene } from './call-scene.ts'
import type { CallScene } from './call-scene.ts'
import { outcomeOf } from './replay.ts'
import type { Done } from './replay.ts'

/** How many stories of how many steps; more to look longer. */
const STORIES = Number(process.env['CALL_STORIES'] ?? 12)
const STEPS = 80

const KINDS = [
  'invoke',
  'claim',
  'beat',
  'complete',
  'complete wrongly',
  'fail',
  'fail for now',
  'cancel',
  'lease ends',
  'wait ends',
  'reap',
  'end run',
] as const
type Kind = (typeof KINDS)[number]

interface Step {
  kind: Kind
  skill: model.SkillKind
  actor: number
  /** Which call, the newest first. */
  call: number
  tokenOff: number
  /** Whether to pick what can be claimed, or what somebody executes, if there is any. */
  fits: boolean
  /** Of a cancellation: whether it comes from who called. */
  isByCaller: boolean
}

/** How often each kind comes, in parts of 40. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  invoke: 3,
  claim: 9,
  beat: 3,
  complete: 4,
  'complete wrongly': 3,
  fail: 4,
  'fail for now': 4,
  cancel: 2,
  'lease ends': 4,
  'wait ends': 2,
  reap: 1,
  'end run': 1,
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(...KINDS.map((kind) => ({ weight: WEIGHTS[kind], arbitrary: fc.constant(kind) }))),
  skill: fc.constantFrom<model.SkillKind>('read', 'write'),
  actor: fc.oneof(
    { weight: 5, arbitrary: fc.constant(0) },
    { weight: 2, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.constant(model.CALLER) },
  ),
  call: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 3, arbitrary: fc.nat(3) }),
  tokenOff: fc.oneof(
    { weight: 9, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(-1, 1) },
  ),
  fits: fc.oneof(
    { weight: 4, arbitrary: fc.constant(true) },
    { weight: 1, arbitrary: fc.constant(false) },
  ),
  isByCaller: fc.boolean(),
})

interface Story {
  db: Database
  scene: CallScene
  world: model.CallWorld
  /** Of the calls of the model, in their order. */
  ids: string[]
  outcomes: string[]
}

interface Move {
  expected: model.CallOutcome
  act: () => Promise<Done>
}

async function tell(story: Story, steps: readonly Step[]): Promise<void> {
  for (const [index, given] of steps.entries()) {
    const one = fitted(story.world, given)
    const move = moveOf(story, one)
    if (!move) continue
    const { outcome, id } = await move.act()
    const what = `step ${index} (${JSON.stringify(one)})`
    assert.equal(outcome, move.expected, what)
    story.outcomes.push(`${one.kind}: ${outcome}`)
    if (one.kind === 'invoke' && outcome === 'ok') story.ids.push(id ?? '')
  }
}

function moveOf(story: Story, one: Step): Move | undefined {
  const { db, scene, world } = story
  const run = (command: (sql: Sql) => Promise<unknown>) =>
    outcomeOf(() => transaction(db, 'read write', command))
  if (one.kind === 'invoke') {
    const input = scene.inputOf(one.skill)
    const act = () => run((sql) => invokeSkill(sql, scene.caller, input, compileSchema))
    return { expected: model.invoke(world, one.skill), act }
  }
  if (one.kind === 'reap') {
    return { expected: model.reap(world), act: () => outcomeOf(() => reapInvocations(db, 1000)) }
  }
  if (one.kind === 'end run') {
    const act = () =>
      run((sql) => failRun(sql, scene.caller, { id: scene.runId, reason: 'stopped' }))
    return { expected: model.endRun(world), act }
  }
  return moveOfCall(story, one, run)
}

function moveOfCall(
  { db, scene, world, ids }: Story,
  one: Step,
  run: (command: (sql: Sql) => Promise<unknown>) => Promise<Done>,
): Move | undefined {
  const { kind } = one
  const { call, actor } = pick(world, one)
  const id = call && ids[world.calls.indexOf(call)]
  const ctx = scene.actors[actor]
  if (!call || id === undefined || !ctx) return undefined
  if (kind === 'lease ends' || kind === 'wait ends') return passTime(kind, { db, scene, call, id })
  if (kind === 'cancel') {
    const by = one.isByCaller ? model.CALLER : 0
    const who = scene.actors[by] ?? ctx
    const act = () => run((sql) => cancelInvocation(sql, who, { id }))
    return { expected: model.cancel(by, call), act }
  }
  // Whoever may not execute is kept out by the route.
  if (actor === model.CALLER) return undefined
  if (kind === 'claim') {
    const act = () => run((sql) => claimInvocation(sql, ctx, { id }))
    return { expected: model.claim(world, actor, call), act }
  }
  const held = { id, fencingToken: Math.max(1, call.token + one.tokenOff) }
  const deed = kind as Exclude<Kind, 'invoke' | 'reap' | 'end run' | 'claim'> & WriteDeed
  const expected = model.write(world, actor, call, { token: held.fencingToken, deed })
  return { expected, act: () => run((sql) => writeFor(sql, ctx, held, deed)) }
}

const isOpen = ({ status }: model.Call) => status === 'pending' || status === 'running'
const isHeld = (one: model.Call) => one.status === 'running' && !one.isLeaseOver

const OF_OPEN: readonly Kind[] = ['claim', 'wait ends', 'cancel']
const OF_HELD: readonly Kind[] = [
  'beat',
  'complete',
  'complete wrongly',
  'fail',
  'fail for now',
  'lease ends',
]

/** What comes first where a step that is to fit finds nothing to be about. */
function fitted({ calls }: model.CallWorld, one: Step): Step {
  if (!one.fits || ![...OF_OPEN, ...OF_HELD].includes(one.kind)) return one
  if (!calls.some(isOpen)) return { ...one, kind: 'invoke' }
  if (OF_HELD.includes(one.kind) && !calls.some(isHeld)) {
    // A wait is mostly over by the time that somebody tries.
    return { ...one, kind: calls.findLast(isOpen)?.isDue ? 'claim' : 'wait ends' }
  }
  return one
}

/** The call that a step is about, and who takes it. */
function pick(
  { calls }: model.CallWorld,
  { kind, actor, call, fits }: Step,
): { call: model.Call | undefined; actor: number } {
  if (!fits) return { call: calls[calls.length - 1 - call], actor }
  const newest = calls.findLast(OF_OPEN.includes(kind) ? isOpen : isHeld)
  return { call: newest, actor: newest?.executor ?? actor }
}

type WriteDeed = Parameters<typeof model.write>[3]['deed']

async function writeFor(
  sql: Sql,
  ctx: CallScene['caller'],
  held: { id: string; fencingToken: number },
  deed: WriteDeed,
): Promise<unknown> {
  if (deed === 'beat') return await heartbeatInvocation(sql, ctx, held)
  if (deed === 'fail' || deed === 'fail for now') {
    const error = { code: 'failed', message: 'no luck' }
    return await failInvocation(sql, ctx, { ...held, error, retryable: deed === 'fail for now' })
  }
  const outputs = deed === 'complete' ? { done: true } : { done: 'perhaps' }
  return await completeInvocation(sql, ctx, { ...held, outputs }, compileSchema)
}

/** Lets a lease, or the wait before the next attempt, be over by now; undefined where there is none. */
function passTime(
  kind: 'lease ends' | 'wait ends',
  { db, scene, call, id }: { db: Database; scene: CallScene; call: model.Call; id: string },
): Move | undefined {
  if (kind === 'lease ends') {
    if (call.status !== 'running' || call.isLeaseOver) return undefined
    call.isLeaseOver = true
    return { expected: 'ok', act: () => outcomeOf(() => scene.endLease(db, id)) }
  }
  const isWaiting = call.status === 'pending' || (call.status === 'running' && call.isLeaseOver)
  if (!isWaiting) return undefined
  call.isDue = true
  return { expected: 'ok', act: () => outcomeOf(() => scene.endWait(db, id)) }
}

/** Fails unless the database holds what the model holds, and the journal every version of it once. */
async function compare({ db, scene, world, ids }: Story): Promise<void> {
  const rows = await db<{ id: string; state: unknown }[]>`
    select id, jsonb_build_array(status, fencing_token, executor_id, version) as state
    from skill_invocations
    where tenant_id = ${scene.caller.tenantId}`
  const held = Object.fromEntries(rows.map(({ id, state }) => [id, state]))
  const versions = new Map<string, number[]>()
  for (const { entityId, entityVersion } of await eventsOf(db, scene.caller)) {
    versions.set(entityId, [...(versions.get(entityId) ?? []), entityVersion])
  }
  for (const [index, { status, token, executor, version }] of world.calls.entries()) {
    const id = ids[index] ?? ''
    const executorId = executor === null ? null : scene.actors[executor]?.actorId
    assert.deepEqual(held[id], [status, token, executorId, version])
    assert.deepEqual(
      versions.get(id),
      Array.from({ length: version }, (_, at) => at + 1),
    )
  }
  assert.equal(rows.length, world.calls.length)
}

/** What the stories must come across, or they prove little. */
const REFUSALS: readonly ErrorCode[] = [
  'run_not_active',
  'permission_denied',
  'invocation_already_claimed',
  'invocation_not_active',
  'invocation_not_due',
  'invalid_skill_outputs',
  'stale_invocation_lease',
]

describe('calls of skills', () => {
  it('do what the model does, in whatever order they are asked', async (t) => {
    const db = await ownDb(t, 'control-plane')
    const seen = new Set<string>()
    const stories = fc.array(step, { minLength: STEPS, maxLength: STEPS })
    const property = fc.asyncProperty(stories, async (steps) => {
      const scene = await callScene(db)
      const world: model.CallWorld = { calls: [], isRunOver: false }
      const story: Story = { db, scene, world, ids: [], outcomes: [] }
      await tell(story, steps)
      await compare(story)
      for (const outcome of story.outcomes) seen.add(outcome)
    })
    await fc.assert(property, { numRuns: STORIES, interruptAfterTimeLimit: 60_000 })
    const unseen = [
      ...KINDS.filter((kind) => kind !== 'complete wrongly' && !seen.has(`${kind}: ok`)),
      ...REFUSALS.filter((code) => ![...seen].some((outcome) => outcome.endsWith(`: ${code}`))),
    ]
    if (STORIES >= 12) assert.deepEqual(unseen, [], 'the stories prove too little')
  })
})
