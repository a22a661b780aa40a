import { AppError } from '#lib/errors.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { wholeNumber } from './option-values.ts'
import { claimOf, forgetClaim, rememberedBy } from './remembered.ts'

/** Options that name a claim which this folder does not know. */
export const FENCE_OPTIONS = {
  claim: { value: 'id', summary: 'Id of the claim, instead of the one "task claim" remembered' },
  'fencing-token': { value: 'number', summary: 'Fencing token of --claim' },
} as const

export interface Fence {
  readonly claimId: string
  readonly fencingToken: number
}

/** The claim to act under: the options, else what `task claim` remembered of the task here. */
export async function fenceOf(
  cli: Cli,
  taskRef: string,
  options: { claim?: string; 'fencing-token'?: string },
): Promise<Fence | undefined> {
  const { claim: claimId, 'fencing-token': token } = options
  const fencingToken = wholeNumber(token, '--fencing-token')
  if ((claimId === undefined) !== (fencingToken === undefined)) {
    throw new CliError('--claim and --fencing-token belong together')
  }
  if (claimId !== undefined && fencingToken !== undefined) return { claimId, fencingToken }
  const claim = await claimOf(await rememberedBy(cli), taskRef)
  return claim && { claimId: claim.claimId, fencingToken: claim.fencingToken }
}

/** The same where there is nothing to do without a claim. */
export async function requireFence(
  cli: Cli,
  taskRef: string,
  options: { claim?: string; 'fencing-token'?: string },
): Promise<Fence> {
  const fence = await fenceOf(cli, taskRef, options)
  if (fence) return fence
  throw new CliError(`No claim of ${taskRef} is known here`, {
    hint: `"control-plane task claim ${taskRef}" takes one; --claim with --fencing-token names another`,
  })
}

const LOST = new Set(['stale_claim', 'claim_expired', 'claim_not_active'])

/** Acts under the claim of a task; one that the server says is lost is forgotten, it never comes back. */
export async function underClaim<T>(cli: Cli, taskRef: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof AppError && LOST.has(error.code)) {
      const remembered = await rememberedBy(cli)
      const claim = await claimOf(remembered, taskRef)
      if (claim) await forgetClaim(remembered, claim.taskId)
    }
    throw error
  }
}
