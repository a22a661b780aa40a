import type { ContextBody, ContextPack } from '#contract/memory-context.ts'
import { redacted } from '../redacted.ts'
import { shown } from '../shown.ts'

/** How a pack came about. No text of an item and nothing of the caller's state but its size: a trace outlives both. */
export function traceOf({
  names,
  body,
  pack,
  at,
}: {
  names: readonly string[]
  body: ContextBody
  pack: ContextPack
  at: Date
}): Record<string, unknown> {
  const { ephemeral_context: state, ...request } = body
  return {
    trace_id: pack.trace_id,
    created_at: at.toISOString(),
    namespaces: names,
    request: {
      ...redacted(shown(request)),
      query: pack.query,
      ephemeral_context_chars: state ? JSON.stringify(state).length : 0,
    },
    selected: pack.sections.flatMap(({ kind: section, items }) =>
      items.map(({ id, kind, score, token_estimate, signals }) => ({
        id,
        kind,
        section,
        score,
        token_estimate,
        signals,
      })),
    ),
    dropped: pack.budget.dropped,
    budget: {
      max_tokens: pack.budget.max_tokens,
      token_estimate: pack.token_estimate,
      truncated: pack.budget.truncated,
    },
    conflicts: pack.conflicts,
    warnings: pack.warnings,
    stats: pack.stats,
  }
}

/** Ids of what a pack shows or tells to have left out. */
export function itemsOf({ sections, budget }: ContextPack): string[] {
  const named = [...sections.flatMap(({ items }) => items), ...budget.dropped]
  return [...new Set(named.map(({ id }) => id))]
}
