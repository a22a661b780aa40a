import { maskPii } from '#lib/pii.ts'
import type { PiiCategory } from '#lib/pii.ts'

/** Fields that this service fills itself: ids, moments, numbers of others. All other texts may tell of people. */
const OWN =
  /^(?:namespaces?|observation_ids?|fact_id|trace_id|supersedes|superseded_by|conflicts_with|cursor|nextCursor|external_id|system|stream|snapshot_id|instance_id|state_?token|engine|status|\w+_at|valid_from|valid_to|as_of)$/i
const OWN_ID = /^(?:obs-|fact-|chunk:\d|ctx-|audit:)/

/** A reply with personal data masked at any depth, and what there was of it. */
export function maskReply(reply: unknown): { reply: unknown; categories: PiiCategory[] } {
  const categories = new Set<PiiCategory>()
  const masked = (value: unknown): unknown => {
    if (typeof value === 'string') {
      if (OWN_ID.test(value)) return value
      const { text, categories: found } = maskPii(value)
      for (const category of found) categories.add(category)
      return text
    }
    if (Array.isArray(value)) return value.map(masked)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, OWN.test(name) ? inner : masked(inner)]),
    )
  }
  return { reply: masked(reply), categories: [...categories] }
}
