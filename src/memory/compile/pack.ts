import { SECTION_KINDS } from '#contract/memory-context.ts'
import type { ContextPack, PackItem, SectionKind } from '#contract/memory-context.ts'
import type { Item, Ranked } from '../recall/item.ts'
import { isKnowledge } from '../recall/knowledge.ts'
import type { Current, Fitted } from './budget.ts'
import { lifecycleOf } from './collapse.ts'

/** The section an item is shown in. */
export function sectionOf(item: Item): SectionKind {
  if (item.kind === 'observation') return observationSection(item)
  if (item.kind === 'entity') return item.type === 'episode' ? 'episodes' : 'related_entities'
  return item.kind === 'fact' ? 'relevant_facts' : 'documents'
}

/**
 * What was recorded as knowledge stands with the facts, the section that readers show first: neither
 * events nor long documents crowd it out.
 */
function observationSection(item: Item): SectionKind {
  if (lifecycleOf(item) !== undefined) return 'episodes'
  return isKnowledge(item) ? 'relevant_facts' : 'recent_observations'
}

/** All sections in their order, each with its items best first. */
export function sectionsOf(
  fitted: readonly Fitted[],
  current: Current,
  conflicts: ReadonlyMap<string, readonly string[]>,
): ContextPack['sections'] {
  return SECTION_KINDS.map((kind) => ({
    kind,
    items:
      kind === 'current'
        ? currentItems(current)
        : fitted
            .filter(({ item }) => sectionOf(item) === kind)
            .map((one) => packItem(one, conflicts.get(one.item.id))),
  }))
}

function currentItems({ text, tokens, truncated }: Current): PackItem[] {
  if (text === '') return []
  return [
    {
      kind: 'current',
      id: 'current:ephemeral',
      text,
      title: null,
      source_path: null,
      score: 1,
      signals: { authoritative: true, ...(truncated && { truncated }) },
      provenance: { origin: 'caller' },
      token_estimate: tokens,
    },
  ]
}

function packItem(fitted: Fitted, conflictsWith: readonly string[] | undefined): PackItem {
  const { item, text, tokens, score, signals } = fitted
  return {
    kind: item.kind === 'entity' && item.type === 'episode' ? 'episode' : item.kind,
    id: item.id,
    text,
    title: item.title,
    source_path: item.sourcePath,
    score: Number(score.toFixed(6)),
    signals,
    provenance: item.provenance,
    token_estimate: tokens,
    ...(conflictsWith && { conflict: true as const, conflicts_with: [...conflictsWith] }),
  }
}

/** What the pack is drawn from, each source once, in the order of the ranking. */
export function sourcesOf(fitted: readonly Pick<Ranked, 'item'>[]): ContextPack['sources'] {
  const sources = new Map<string, ContextPack['sources'][number]>()
  for (const { item } of fitted) {
    if (item.sourcePath === null && item.nodeKey === null) continue
    const key = `${item.sourcePath ?? ''}\n${item.nodeKey ?? ''}`
    if (sources.has(key)) continue
    sources.set(key, { source_path: item.sourcePath, node_key: item.nodeKey, title: item.title })
  }
  return [...sources.values()]
}
