import * as fc from 'fast-check'

/** One command of a random story. Numbers pick among what is there, the newest first. */
export type Step =
  | { kind: 'open session' | 'close session' | 'beat session'; actor: number; session: number }
  | { kind: 'create task' | 'reap' }
  | { kind: 'claim lease ends'; claim: number }
  | { kind: 'session lease ends'; session: number }
  | ({ kind: 'claim'; task: number; session: number } & By)
  | ({ kind: 'beat claim' | 'release' | 'reclaim'; claim: number; tokenOff: number } & By)
  | ({ kind: 'start run'; task: number; claim: number; tokenOff: number } & By)
  | ({ kind: RunWrite; run: number; tokenOff: number } & By)
  | { kind: 'revise'; actor: number; task: number }
  | ({ kind: 'ask'; task: number; decider: number } & By)
  | ({ kind: 'approve' | 'reject' | 'withdraw'; approval: number } & By)
  | ({ kind: 'suspend for an approval'; run: number; approval: number; tokenOff: number } & By)
  | ({ kind: 'complete'; task: number; claim: number; shows: boolean; tokenOff: number } & By)

interface By {
  actor: number
  /** Whether to pick what the actor has a hold of, if there is any. */
  fits: boolean
}

export type RunWrite =
  | 'checkpoint'
  | 'action'
  | 'suspend'
  | 'succeed'
  | 'succeed and complete'
  | 'fail'
  | 'cancel'

/** Mostly the newest, so that stories go deep; sometimes what is long over. */
const pick = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.nat(7) },
)
const actor = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constant(2) },
)
const anyone = fc.nat(4)
const fits = fc.oneof(
  { weight: 5, arbitrary: fc.constant(true) },
  { weight: 1, arbitrary: fc.constant(false) },
)
/** Who is asked for approvals. */
const decider = fc.constantFrom(3, 4)
/** How far the token shown is from the claim's own. */
const tokenOff = fc.oneof(
  { weight: 12, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 2) },
)

function step(
  kinds: readonly Step['kind'][],
  fields: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<Step> {
  return fc.record({ kind: fc.constantFrom(...kinds), ...fields }) as fc.Arbitrary<Step>
}

const STEPS: [number, fc.Arbitrary<Step>][] = [
  [3, step(['open session'], { actor, session: pick })],
  [1, step(['close session', 'beat session'], { actor, session: pick })],
  [3, step(['create task'], {})],
  [1, step(['reap'], {})],
  [10, step(['claim'], { actor, fits, task: pick, session: pick })],
  [2, step(['claim lease ends'], { claim: pick })],
  [1, step(['session lease ends'], { session: pick })],
  [3, step(['beat claim', 'release', 'reclaim'], { actor, fits, claim: pick, tokenOff })],
  [7, step(['start run'], { actor, fits, task: pick, claim: pick, tokenOff })],
  [4, step(['checkpoint', 'action'], { actor, fits, run: pick, tokenOff })],
  [
    5,
    step(['suspend', 'succeed', 'succeed and complete', 'fail', 'cancel'], {
      actor,
      fits,
      run: pick,
      tokenOff,
    }),
  ],
  [1, step(['revise'], { actor, task: pick })],
  [2, step(['ask'], { actor, fits, task: pick, decider })],
  [4, step(['approve', 'reject', 'withdraw'], { actor: anyone, fits, approval: pick })],
  [1, step(['suspend for an approval'], { actor, fits, run: pick, approval: pick, tokenOff })],
  [2, step(['complete'], { actor, fits, task: pick, claim: pick, shows: fc.boolean(), tokenOff })],
]

const here = { actor: 0, fits: true, tokenOff: 0 }

/** Something of everything, so that later steps have something to pick. */
const BEGINNING: readonly Step[] = [
  { kind: 'open session', actor: 1, session: 0 },
  { kind: 'open session', actor: 0, session: 0 },
  { kind: 'create task' },
  { kind: 'claim', ...here, task: 0, session: 0 },
  { kind: 'start run', ...here, task: 0, claim: 0 },
]

/** Stories of exactly so many steps. */
export function stories(length: number): fc.Arbitrary<Step[]> {
  const any = fc.oneof(...STEPS.map(([weight, arbitrary]) => ({ weight, arbitrary })))
  const rest = Math.max(0, length - BEGINNING.length)
  return fc
    .array(any, { minLength: rest, maxLength: rest, size: 'max' })
    .map((steps) => [...BEGINNING, ...steps].slice(0, length))
}
