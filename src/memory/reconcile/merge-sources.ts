import { isVisibilityScope } from '../visibility.ts'

/** What one source holds open about an entity. */
export interface SourceVersion {
  kind: string
  key: string
  source: string
  scope: string
  title: string
  attributes: Record<string, unknown>
  aliases: string[]
  scopes: string[]
  provenance: Record<string, unknown> | null
  sourcePath: string | null
  /** Six digits of a second. */
  validFrom: string
}

export type MergedEntity = Omit<SourceVersion, 'source' | 'scope'>

/**
 * What all sources together say about one entity: an attribute that any of them gives survives the
 * silence of the others, of two values the later one holds (then by source and scope). Only versions
 * of one audience are merged, the widest, so that nothing is seen by more than its source allows.
 */
export function mergeSources(versions: readonly SourceVersion[]): MergedEntity | undefined {
  const merged = widest(versions).toSorted(byAge)
  const newest = merged.at(-1)
  if (!newest) return undefined
  const titled = merged.findLast(({ title, key }) => title !== key)
  const attributes: Record<string, unknown> = {}
  for (const version of merged) {
    for (const [name, value] of Object.entries(version.attributes)) {
      if (value !== null) attributes[name] = value
    }
  }
  return {
    kind: newest.kind,
    key: newest.key,
    title: titled?.title ?? newest.title,
    attributes,
    aliases: [...new Set(merged.flatMap(({ aliases }) => aliases))],
    scopes: [...new Set(merged.flatMap(({ scopes }) => scopes))],
    provenance: merged.findLast(({ provenance }) => provenance !== null)?.provenance ?? null,
    sourcePath: merged.findLast(({ sourcePath }) => sourcePath !== null)?.sourcePath ?? null,
    validFrom: newest.validFrom,
  }
}

/** The versions that the most people see: everybody, else the most scopes. */
function widest(versions: readonly SourceVersion[]): SourceVersion[] {
  const classes = Map.groupBy(versions, ({ scopes }) =>
    scopes.filter(isVisibilityScope).toSorted().join('\u001f'),
  )
  const [best] = [...classes].toSorted(([a], [b]) => compareWidth(a, b))
  return best?.[1] ?? []
}

function compareWidth(a: string, b: string): number {
  if (widthOf(a) !== widthOf(b)) return widthOf(a) > widthOf(b) ? -1 : 1
  return a < b ? -1 : 1
}

function widthOf(audience: string): number {
  return audience === '' ? Infinity : audience.split('\u001f').length
}

function byAge(a: SourceVersion, b: SourceVersion): number {
  if (a.validFrom !== b.validFrom) return a.validFrom < b.validFrom ? -1 : 1
  if (a.source !== b.source) return a.source < b.source ? -1 : 1
  return a.scope < b.scope ? -1 : 1
}
