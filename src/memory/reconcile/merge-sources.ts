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
  /** When it first said the title (`t`) or an attribute (`p:<name>`) so, where that was earlier. */
  since: Record<string, string>
}

export type MergedEntity = Omit<SourceVersion, 'source' | 'scope' | 'since'>

/**
 * What all sources together say about one entity. An attribute that any of them gives survives the silence
 * of the others; of two values that of the source of higher priority holds, then the one said first more
 * recently, however often the other was repeated since, then by source and scope. A title that is only the
 * key yields to any other. Only versions of one audience are merged, the widest, so that nothing is seen by
 * more than its source allows.
 */
export function mergeSources(
  versions: readonly SourceVersion[],
  priority: readonly string[] = [],
): MergedEntity | undefined {
  const merged = widest(versions)
  const newest = merged.toSorted((a, b) => compare(b.validFrom, a.validFrom))[0]
  if (!newest) return undefined
  const rank = ({ source }: SourceVersion) => {
    const place = priority.indexOf(source)
    return place === -1 ? priority.length : place
  }
  const best = (name: string, saying: readonly SourceVersion[]) =>
    saying.toSorted(
      (a, b) =>
        rank(a) - rank(b) ||
        compare(sinceOf(b, name), sinceOf(a, name)) ||
        compare(a.source, b.source) ||
        compare(a.scope, b.scope),
    )[0]
  const titled = merged.filter(({ title, key }) => title !== key)
  const names = new Set(merged.flatMap(({ attributes }) => Object.keys(attributes)))
  const attributes = [...names].flatMap((name) => {
    const saying = merged.filter((one) => (valueOf(one, name) ?? null) !== null)
    const one = best(`p:${name}`, saying)
    return one ? [[name, valueOf(one, name)] as const] : []
  })
  return {
    kind: newest.kind,
    key: newest.key,
    title: (best('t', titled) ?? newest).title,
    attributes: Object.fromEntries(attributes),
    aliases: [...new Set(merged.flatMap(({ aliases }) => aliases))],
    scopes: [...new Set(merged.flatMap(({ scopes }) => scopes))],
    provenance:
      best(
        '',
        merged.filter(({ provenance }) => provenance !== null),
      )?.provenance ?? null,
    sourcePath:
      best(
        '',
        merged.filter(({ sourcePath }) => sourcePath !== null),
      )?.sourcePath ?? null,
    validFrom: newest.validFrom,
  }
}

function valueOf({ attributes }: SourceVersion, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined
}

/** When the source first said what it says now. */
function sinceOf({ since, validFrom }: SourceVersion, name: string): string {
  return since[name] ?? validFrom
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
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
