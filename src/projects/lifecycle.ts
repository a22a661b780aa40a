import type { ProjectLifecycle } from '#contract/project-templates.ts'
import type { StatusCategory } from '#contract/task-types.ts'
import { AppError } from '#lib/errors.ts'

/** How a project moves whose template says nothing about it, or which has none. */
export const BUILT_IN_LIFECYCLE: ProjectLifecycle = {
  initialStatus: 'planned',
  statuses: [
    { key: 'planned', category: 'open' },
    { key: 'active', category: 'active' },
    { key: 'paused', category: 'blocked' },
    { key: 'completed', category: 'terminal_success' },
    { key: 'cancelled', category: 'terminal_cancelled' },
  ],
  transitions: [
    { from: 'planned', to: 'active' },
    { from: 'planned', to: 'cancelled' },
    { from: 'active', to: 'paused' },
    { from: 'active', to: 'completed' },
    { from: 'active', to: 'cancelled' },
    { from: 'paused', to: 'active' },
    { from: 'paused', to: 'cancelled' },
    { from: 'completed', to: 'active' },
    { from: 'cancelled', to: 'planned' },
  ],
}

/**
 * Throws `invalid_lifecycle` with every fault: a status or a move declared twice, an unknown status in a
 * move or as the initial one, a move that leads nowhere.
 */
export function requireSoundLifecycle(lifecycle: ProjectLifecycle): void {
  const { statuses, transitions, initialStatus } = lifecycle
  const keys = statuses.map(({ key }) => key)
  const moves = transitions.map(({ from, to }) => `${from} ${to}`)
  const errors = [
    ...repeated(keys).map((at) => fault(`statuses.${at}.key`, 'is declared twice')),
    ...repeated(moves).map((at) => fault(`transitions.${at}`, 'is declared twice')),
    ...transitions.flatMap(({ from, to }, at) => [
      ...(keys.includes(from) ? [] : [fault(`transitions.${at}.from`, 'is not a status')]),
      ...(keys.includes(to) ? [] : [fault(`transitions.${at}.to`, 'is not a status')]),
      ...(from === to ? [fault(`transitions.${at}`, 'leads nowhere')] : []),
    ]),
    ...(keys.includes(initialStatus) ? [] : [fault('initialStatus', 'is not a status')]),
  ]
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_lifecycle',
    `Cannot use the lifecycle: ${first.loc} ${first.message}`,
    { details: { errors } },
  )
}

export interface Target {
  statusKey: string
  systemStatusCategory: StatusCategory
  displayName: string | null
}

/** Where a status leads, in the order in which the lifecycle declares it. */
export function targetsOf(lifecycle: ProjectLifecycle, statusKey: string): Target[] {
  return lifecycle.transitions
    .filter(({ from }) => from === statusKey)
    .map(({ to }) => statusOf(lifecycle, to))
}

/** Throws for a status that the lifecycle does not have: callers pass what was checked before. */
export function statusOf(lifecycle: ProjectLifecycle, statusKey: string): Target {
  const status = lifecycle.statuses.find(({ key }) => key === statusKey)
  if (!status) throw new Error(`the lifecycle has no status ${statusKey}`)
  const { category, displayName = null } = status
  return { statusKey, systemStatusCategory: category, displayName }
}

function repeated(names: readonly string[]): number[] {
  return names.flatMap((name, at) => (names.indexOf(name) < at ? [at] : []))
}

function fault(place: string, message: string): { loc: string; message: string } {
  return { loc: `body.lifecycle.${place}`, message }
}
