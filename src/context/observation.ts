import type { NewObservation } from '#contract/observations.ts'
import type { Visibility } from '#contract/visibility.ts'
import { sha256 } from '#lib/id.ts'
import { canonicalJson } from '#lib/json.ts'

/** Equal for two observations that say the same, whatever they are bound to. */
export function fingerprintOf(input: NewObservation): string {
  const { kind, content, data = null, assertions = null } = input
  return sha256(canonicalJson({ kind, content, data, assertions }))
}

export function visibilityOf({ data }: NewObservation): Visibility {
  return data?.['visibility'] === 'private' ? 'private' : 'workspace'
}
