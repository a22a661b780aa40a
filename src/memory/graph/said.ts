import type { NodeVersion } from './graph.ts'

/**
 * When each thing about an entity was said during a version: the title under `t`, a property under
 * `p:<name>`. It tells what a version was told from what it merely inherited, so that something learnt
 * late about an earlier time reaches exactly as far as nothing else was said.
 */
export type Said = Record<string, string[]>

/** Enough to keep the first and the latest of what is said over and over. */
const MAX_TIMES = 8

/** What a write says, by the same names; null takes a property away. */
export type Statements = Map<string, unknown>

export function statementsOf(write: {
  title: string | undefined
  properties: Readonly<Record<string, unknown>>
}): Statements {
  const statements: Statements = new Map(
    Object.entries(write.properties).map(([name, value]) => [`p:${name}`, value]),
  )
  if (write.title?.trim()) statements.set('t', write.title)
  return statements
}

/** The part of a write that these statements are. */
export function contentOf(statements: Statements): {
  title: string | undefined
  properties: Record<string, unknown>
} {
  const title = statements.get('t')
  const properties = [...statements]
    .filter(([name]) => name !== 't')
    .map(([name, value]) => [name.slice(2), value] as const)
  return {
    title: typeof title === 'string' ? title : undefined,
    properties: Object.fromEntries(properties),
  }
}

/** What a version holds under a name; null when nothing. */
export function heldBy({ title, key, properties }: Content, name: string): unknown {
  if (name === 't') return title === key ? null : title
  return Object.hasOwn(properties, name.slice(2)) ? properties[name.slice(2)] : null
}

type Content = Pick<NodeVersion, 'title' | 'key' | 'properties'>

/** Whether a version was told from its beginning what it holds under a name, as a source tells all. */
export function toldAtStart(row: NodeVersion, name: string): boolean {
  const first = row.said[name]?.[0]
  if (first !== undefined && first <= row.validFrom) return true
  return row.origin === 'snapshot' && heldBy(row, name) !== null
}

/** The first moment after another at which something was said again. */
export function saidAfter(said: Said, name: string, at: string): string | undefined {
  return said[name]?.find((time) => time > at)
}

export function noted(said: Said, statements: Statements, at: string): Said {
  return joinedSaid(said, Object.fromEntries([...statements.keys()].map((name) => [name, [at]])))
}

export function joinedSaid(a: Said, b: Said): Said {
  const joined = { ...a }
  for (const [name, more] of Object.entries(b)) {
    const times = [...new Set([...(a[name] ?? []), ...more])].toSorted()
    joined[name] = times.length > MAX_TIMES ? times.toSpliced(1, times.length - MAX_TIMES) : times
  }
  return joined
}

/** What was said before a moment, and from it on. */
export function splitSaid(said: Said, at: string): { before: Said; after: Said } {
  const before: Said = {}
  const after: Said = {}
  for (const [name, times] of Object.entries(said)) {
    const [early, late] = [times.filter((time) => time < at), times.filter((time) => time >= at)]
    if (early.length > 0) before[name] = early
    if (late.length > 0) after[name] = late
  }
  return { before, after }
}
