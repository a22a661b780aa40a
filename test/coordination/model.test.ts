import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import * as fc from 'fast-check'
import type { Database } from '#db/sql.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { testTenant } from '../support/ctx.ts'
import { ownDb } from '../support/db.ts'
import { compare } from './compare.ts'
import { stories } from './step.ts'
import type { Step } from './step.ts'
import { tell } from './story.ts'

/** How many steps are taken in all; more to look longer, with MODEL_SEED to look again. */
const STEPS = Number(process.env['MODEL_STEPS'] ?? 10_000)
const SEED = process.env['MODEL_SEED']
const STORY_LENGTH = 125
const MAX_MS = Math.max(180_000, STEPS * 60)
/** Databases that are worked on at once: reaping is for a whole database. */
const LANES = 3

/** What the stories must come across, or they prove little. */
const KINDS: readonly Step['kind'][] = [
  'open session',
  'close session',
  'beat session',
  'create task',
  'reap',
  'claim',
  'claim lease ends',
  'session lease ends',
  'beat claim',
  'release',
  'reclaim',
  'start run',
  'checkpoint',
  'action',
  'suspend',
  'succeed',
  'succeed and complete',
  'fail',
  'cancel',
  'complete',
  'revise',
  'ask',
  'approve',
  'reject',
  'withdraw',
  'suspend for an approval',
]
const REFUSALS: readonly ErrorCode[] = [
  'approval_already_decided',
  'approval_required',
  'claim_expired',
  'claim_holder_mismatch',
  'claim_not_active',
  'claim_not_expired',
  'run_already_active',
  'run_holder_mismatch',
  'run_in_progress',
  'permission_denied',
  'run_not_active',
  'session_expired',
  'session_not_active',
  'session_owner_mismatch',
  'stale_claim',
  'task_already_claimed',
  'task_already_completed',
  'task_claimed',
  'task_not_claimable',
  'version_conflict',
]

function unseen(seen: ReadonlyMap<string, number>): string[] {
  const outcomes = [...seen.keys()]
  return [
    ...KINDS.filter((kind) => !outcomes.includes(`${kind}: ok`)),
    ...REFUSALS.filter((code) => !outcomes.some((outcome) => outcome.endsWith(`: ${code}`))),
  ]
}

const WORKS = [
  'sessions.open',
  'tasks.read',
  'tasks.write',
  'tasks.claim',
  'approvals.manage',
] as const
const DECIDES = ['approvals.decide'] as const

async function check(db: Database, steps: Step[]): Promise<string[]> {
  const tenant = await testTenant(db)
  const workers = [await tenant.caller(WORKS), await tenant.caller(WORKS)]
  const people = [await tenant.caller(DECIDES, 'human'), await tenant.caller(DECIDES, 'human')]
  const actors = [...workers, tenant, ...people].map(({ ctx }) => ctx)
  const story = await tell(db, actors, steps)
  await compare(db, tenant.ctx, story)
  return story.outcomes
}

/** Tells stories until there are no steps left to take; answers how often what came of them. */
async function explore(t: TestContext, steps: number, seen: Map<string, number>): Promise<void> {
  const db = await ownDb(t, 'control-plane')
  const length = Math.min(STORY_LENGTH, steps)
  const property = fc.asyncProperty(stories(length), async (story) => {
    for (const outcome of await check(db, story)) seen.set(outcome, (seen.get(outcome) ?? 0) + 1)
  })
  await fc.assert(property, {
    numRuns: Math.ceil(steps / length),
    // Also the end of making a story that failed shorter.
    interruptAfterTimeLimit: MAX_MS,
    markInterruptAsFailure: true,
    ...(SEED !== undefined && { seed: Number(SEED) }),
  })
}

describe('sessions, claims, runs and tasks', () => {
  it(
    'do what the model does, in whatever order they are asked',
    { timeout: MAX_MS + 60_000 },
    async (t) => {
      const seen = new Map<string, number>()
      const lanes = Array.from({ length: LANES }, () => explore(t, Math.ceil(STEPS / LANES), seen))
      await Promise.all(lanes)
      t.diagnostic(`${[...seen.values()].reduce((sum, one) => sum + one, 0)} steps`)
      if (STEPS >= 5_000) assert.deepEqual(unseen(seen), [], 'the stories prove too little')
    },
  )
})

describe('the check by the model', () => {
  it('notices a command that does something else', async (t) => {
    const db = await ownDb(t, 'control-plane')
    await db`
      create function forget_tokens() returns trigger language plpgsql as $$
      begin
        new.last_fencing_token := old.last_fencing_token;
        return new;
      end $$`
    await db`
      create trigger forget before update on tasks
      for each row when (new.status = 'completed') execute function forget_tokens()`
    await assert.doesNotReject(check(db, [{ kind: 'create task' }]))
    await db`
      create or replace function forget_tokens() returns trigger language plpgsql as $$
      begin
        new.status := 'open';
        return new;
      end $$`
    const complete = {
      kind: 'complete',
      actor: 0,
      task: 0,
      claim: 0,
      shows: false,
      fits: true,
      tokenOff: 0,
    }
    await assert.rejects(check(db, [{ kind: 'create task' }, complete as Step]))
  })
})
