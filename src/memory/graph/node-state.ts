import { canonicalJson } from '#lib/json.ts'
import { mergedScopes } from '../scopes.ts'
import { isVisibilityScope } from '../visibility.ts'
import type { NodeVersion } from './graph.ts'

/** What is said about an entity at a moment. */
export interface NodeWrite {
  key: string
  kind: string
  /** Whether the kind was said or only guessed from the key. */
  kindGiven: boolean
  title: string | undefined
  /** A null takes a property away. */
  properties: Readonly<Record<string, unknown>>
  aliases: readonly string[]
  scopes: readonly string[]
  /** From when on it holds. */
  at: string
  /** Whether saying it again is worth noting as the last sight of the entity. */
  isSighting: boolean
  sourcePath?: string | null
  observationId?: string | null
  provenance?: Record<string, unknown> | null
  confidence?: number | null
}

type State = Omit<NodeVersion, 'item' | 'validFrom' | 'validTo' | 'termCount' | 'said'>

/** What the entity is after the write, given what it was. */
export function stateAfter(base: NodeVersion | undefined, write: NodeWrite): State {
  const before = base ?? blank(write.key)
  return {
    ...saidOnce(before, write),
    key: write.key,
    kind: kindAfter(base, write),
    title: write.title?.trim() ? write.title : before.title,
    properties: withoutNulls({ ...before.properties, ...write.properties }),
    aliases: [...new Set([...before.aliases, ...write.aliases])],
    origin: base?.origin ?? 'agent',
    placeholder: false,
    scopes: scopesAfter(base, write),
    lastSeen: base && base.lastSeen > write.at ? base.lastSeen : write.at,
  }
}

type Once = Pick<State, 'sourcePath' | 'observationId' | 'provenance' | 'confidence'>

function saidOnce(before: Once, write: NodeWrite): Once {
  return {
    sourcePath: write.sourcePath ?? before.sourcePath,
    observationId: write.observationId ?? before.observationId,
    provenance: write.provenance ?? before.provenance,
    confidence: write.confidence ?? before.confidence,
  }
}

function blank(key: string): Once & Pick<State, 'title' | 'properties' | 'aliases'> {
  const once = { sourcePath: null, observationId: null, provenance: null, confidence: null }
  return { ...once, title: key, properties: {}, aliases: [] }
}

/** The kind that a source gave stays; a guessed one gives way. */
export function kindAfter(base: NodeVersion | undefined, { kind, kindGiven }: NodeWrite): string {
  return base && (!kindGiven || base.origin === 'snapshot') ? base.kind : kind
}

function scopesAfter(base: NodeVersion | undefined, write: NodeWrite): string[] {
  if (!base) return [...write.scopes]
  return base.placeholder && isWide(write.scopes)
    ? [...write.scopes]
    : mergedScopes(base.scopes, write.scopes)
}

function isWide(scopes: readonly string[]): boolean {
  return !scopes.some(isVisibilityScope)
}

/** An entity told of for a time before all we know keeps its kind, place and audience, nothing else. */
export function inheritedFrom(later: NodeVersion | undefined): NodeVersion | undefined {
  return later && { ...later, title: later.key, properties: {}, aliases: [], confidence: null }
}

export function sameState(a: NodeVersion, b: State): boolean {
  return fingerprint(a) === fingerprint(b)
}

function fingerprint(state: State): string {
  const { kind, title, properties, aliases, sourcePath, confidence, placeholder, scopes } = state
  return canonicalJson([
    [kind, title, sourcePath, confidence, placeholder],
    [properties, aliases.toSorted(), scopes.toSorted()],
  ])
}

export function withoutNulls(
  properties: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== null))
}
