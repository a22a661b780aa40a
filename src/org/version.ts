import { AppError } from '#lib/errors.ts'

/** Throws `version_conflict` with `details.currentVersion` unless the caller saw the latest version. */
export function requireVersion(
  what: string,
  current: { id: string; version: number },
  expected: number,
): void {
  if (current.version === expected) return
  throw new AppError(
    'version_conflict',
    `Cannot change ${what} "${current.id}": it is at version ${current.version}`,
    { details: { currentVersion: current.version } },
  )
}

/** The names of the fields of `after` that differ from `before`, in the order of `after`. */
export function changedFields<T extends object>(before: T, after: Partial<T>): string[] {
  return (Object.keys(after) as (keyof T & string)[]).filter((key) => after[key] !== before[key])
}
