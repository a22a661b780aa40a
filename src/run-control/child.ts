import { createHash, randomBytes } from 'node:crypto'
import type { ChildHandle, Grant } from '#contract/child-handles.ts'
import { permits } from '#contract/permissions.ts'
import { toTrillionths } from '#lib/amount.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { RunRow } from '#runs/run.sql.ts'

/** What the child of a run is judged by. */
export interface ChildState {
  revokedAt: Date | null
  isExpired: boolean
  /** Whether the claim of its task is live by the database clock. */
  isClaimed: boolean
  newestRunStatus: RunRow['status'] | null
  hasSucceeded: boolean
}

/** What a child amounts to: a success stays one, whatever came after it. */
export function childStatus(child: ChildState): ChildHandle['status'] {
  const { newestRunStatus, isClaimed } = child
  if (child.hasSucceeded) return 'succeeded'
  if (child.revokedAt) return 'revoked'
  if (isClaimed) return newestRunStatus === 'running' ? 'running' : 'claimed'
  if (newestRunStatus === 'running' || newestRunStatus === 'failed') return 'failed'
  if (newestRunStatus === 'cancelled') return 'cancelled'
  if (child.isExpired) return 'expired'
  return newestRunStatus === 'suspended' ? 'suspended' : 'pending'
}

/** A grant with every limit the parent has: what the child may do at most. */
export interface NarrowGrant {
  permissions: string[]
  skills: string[] | null
  maxDurationSeconds: number | null
  maxActions: number | null
  maxTokens: number | null
  /** Decimal text. */
  maxCost: string | null
}

/**
 * Narrows the parent's rights to a grant. Permissions and skills must be held by the caller; the budgets
 * of the child are at most what is left to the run, and just that when not given. Throws
 * `child_grant_exceeds_parent` with `details.violations`.
 */
export function narrowGrant(ctx: Ctx, run: RunRow, grant: Grant): NarrowGrant {
  const held = ctx.childGrant?.skills ?? null
  const left = leftTo(run)
  const violations = [
    ...grant.permissions
      .filter((name) => !permits(ctx.permissions, name))
      .map((name) => ({ path: 'permissions', child: name, parent: null })),
    ...(grant.skills ?? [])
      .filter((name) => held !== null && !held.includes(name))
      .map((name) => ({ path: 'skills', child: name, parent: null })),
    ...overspent(left, grant),
  ]
  if (violations.length > 0) {
    throw new AppError(
      'child_grant_exceeds_parent',
      `Cannot give a child more than run "${run.id}" has itself`,
      { details: { violations } },
    )
  }
  return {
    permissions: [...new Set(grant.permissions)],
    skills: grant.skills ?? (held === null ? null : [...held]),
    maxDurationSeconds: grant.maxDurationSeconds ?? left.maxDurationSeconds,
    maxActions: grant.maxActions ?? left.maxActions,
    maxTokens: grant.maxTokens ?? left.maxTokens,
    maxCost: grant.maxCost ?? left.maxCost,
  }
}

type Budgets = Pick<NarrowGrant, 'maxDurationSeconds' | 'maxActions' | 'maxTokens' | 'maxCost'>

function leftTo(run: RunRow): Budgets {
  return {
    maxDurationSeconds: leftOf(run.maxDurationSeconds, Math.ceil(run.ageSeconds)),
    maxActions: leftOf(run.maxActions, run.actionCount),
    maxTokens: run.tokensLeft,
    maxCost: run.costLeft,
  }
}

/** The budgets of a grant that are more than is left, and those that nothing is left of. */
function overspent(left: Budgets, grant: Grant) {
  const { maxCost } = left
  const isTooDear = maxCost !== null && (maxCost === '0' || isMore(grant.maxCost ?? '0', maxCost))
  return [
    ...(['maxDurationSeconds', 'maxActions', 'maxTokens'] as const)
      .map((path) => ({ path, child: grant[path] ?? left[path] ?? 1, parent: left[path] }))
      .filter(({ child, parent }) => parent !== null && (child > parent || parent < 1)),
    ...(isTooDear ? [{ path: 'maxCost', child: grant.maxCost ?? null, parent: maxCost }] : []),
  ]
}

function isMore(amount: string, limit: string): boolean {
  return toTrillionths(amount) > toTrillionths(limit)
}

function leftOf(limit: number | null, used: number): number | null {
  return limit === null ? null : limit - used
}

const TOKEN = /^ch1_[A-Za-z0-9_-]{43}$/

/** A handle's secret of 256 random bits; only its hash is kept. */
export function newHandleToken(): { text: string; hash: Buffer } {
  const text = `ch1_${randomBytes(32).toString('base64url')}`
  return { text, hash: hashToken(text) }
}

/** The hash of a token, or undefined when the text does not have the form of one. */
export function parseHandleToken(text: string): Buffer | undefined {
  return TOKEN.test(text) ? hashToken(text) : undefined
}

function hashToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
