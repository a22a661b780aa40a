import { claimTask, heartbeatClaim, releaseClaim } from '#contract/claims.ts'
import type { Claim } from '#contract/claims.ts'
import { getPrincipal } from '#contract/org.ts'
import { heartbeatSession } from '#contract/sessions.ts'
import { completeTask, getTask } from '#contract/tasks.ts'
import { AppError } from '#lib/errors.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { FENCE_OPTIONS, fenceOf, requireFence, underClaim } from './held-claim.ts'
import { given, wholeNumber } from './option-values.ts'
import { claimOf, forgetClaim, rememberClaim, rememberedBy } from './remembered.ts'
import { liveSession, PERSON_TTL_SECONDS } from './session-commands.ts'

const claim = command({
  name: 'task claim',
  args: '<task>',
  summary: 'Take the only right to work on a task, for a while',
  details: [
    'Opens a session unless one is in use here or named. Session, claim and fencing token are',
    'remembered in this folder for this credential, so that "task complete" and "run start" find them.',
  ],
  options: {
    session: { value: 'id', summary: 'Session to hold the claim, instead of the one used here' },
    ttl: { value: 'seconds', summary: `Lease (${PERSON_TTL_SECONDS})` },
    intent: { value: 'text', summary: 'What you are about to do; others see it' },
  },
  async run(cli, { positionals: [ref = ''], values: { session, ttl, intent } }) {
    const ttlSeconds = wholeNumber(ttl, '--ttl') ?? PERSON_TTL_SECONDS
    const sessionId = session ?? (await liveSession(cli, ttlSeconds))
    const taken = await cli
      .call(claimTask, { params: { ref }, body: { sessionId, ttlSeconds, ...given({ intent }) } })
      .catch((error: unknown) => nameHolder(cli, error))
    await rememberClaim(await rememberedBy(cli), taken)
    cli.screen.result(taken, () => showClaim(cli, taken))
  },
})

const renew = command({
  name: 'task renew',
  args: '<task>',
  summary: 'Keep a claim for longer, with its session',
  options: {
    ttl: { value: 'seconds', summary: `Lease from now on (${PERSON_TTL_SECONDS})` },
    ...FENCE_OPTIONS,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const ttlSeconds = wholeNumber(values.ttl, '--ttl') ?? PERSON_TTL_SECONDS
    const remembered = await rememberedBy(cli)
    const known = await claimOf(remembered, ref)
    const { claimId, fencingToken } = await requireFence(cli, ref, values)
    const renewed = await underClaim(cli, ref, async () => {
      if (known?.claimId === claimId) {
        await cli.call(heartbeatSession, { params: { id: known.sessionId }, body: { ttlSeconds } })
      }
      return await cli.call(heartbeatClaim, {
        params: { id: claimId },
        body: { fencingToken, ttlSeconds },
      })
    })
    await rememberClaim(remembered, renewed, known?.runId ?? null)
    cli.screen.result(renewed, () => showClaim(cli, renewed))
  },
})

const complete = command({
  name: 'task complete',
  args: '<task>',
  summary: 'Complete a task and release its claim',
  options: {
    evidence: { value: 'text', repeat: true, summary: 'What supports the result: a link, an id' },
    'expected-version': {
      value: 'number',
      summary: 'Refuse if the task is not at this version (the one it has now)',
    },
    ...FENCE_OPTIONS,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { evidence, 'expected-version': version } = values
    const fence = await fenceOf(cli, ref, values)
    const ifMatch =
      wholeNumber(version, '--expected-version') ??
      (await cli.call(getTask, { params: { ref } })).version
    const task = await underClaim(cli, ref, () =>
      cli.call(completeTask, {
        params: { ref },
        ifMatch,
        body: { ...fence, ...given({ evidence: evidence && [...evidence] }) },
      }),
    )
    await forgetClaim(await rememberedBy(cli), task.id)
    cli.screen.result(task, () => cli.screen.line(`Completed ${task.publicId} ${task.title}`))
  },
})

const release = command({
  name: 'task release',
  args: '<task>',
  summary: 'Give a claimed task back',
  options: {
    reason: { value: 'text', summary: 'Why; kept in the journal' },
    ...FENCE_OPTIONS,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { claimId, fencingToken } = await requireFence(cli, ref, values)
    const released = await underClaim(cli, ref, () =>
      cli.call(releaseClaim, {
        params: { id: claimId },
        body: { fencingToken, ...given({ reason: values.reason }) },
      }),
    )
    await forgetClaim(await rememberedBy(cli), released.taskId)
    cli.screen.result(released, () => cli.screen.line(`Released ${released.taskPublicId}`))
  },
})

function showClaim(
  { screen }: Cli,
  { taskPublicId, id, sessionId, fencingToken, expiresAt }: Claim,
) {
  screen.line(`Claimed ${taskPublicId} until ${expiresAt}`)
  screen.fields([
    ['session', sessionId],
    ['claim', id],
    ['fencing token', fencingToken],
  ])
}

/** Rethrows; a refusal because of another claim also says who holds it, where we may know. */
async function nameHolder(cli: Cli, error: unknown): Promise<never> {
  if (!(error instanceof AppError) || error.code !== 'task_already_claimed') throw error
  const { holderId } = error.details
  if (typeof holderId !== 'string') throw error
  const principal = await cli
    .call(getPrincipal, { params: { id: holderId } })
    .catch(() => undefined)
  if (principal === undefined) throw error
  const holder = `${principal.displayName} (${principal.kind})`
  throw new AppError(error.code, error.message, {
    details: { ...error.details, holder },
    cause: error,
  })
}

export const claimCommands = [claim, renew, complete, release]
