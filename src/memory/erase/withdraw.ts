import { canonicalJson } from '#lib/json.ts'
import type { NodeVersion } from '../graph/graph.ts'
import { heldBy } from '../graph/said.ts'
import { ownerOf } from '../scopes.ts'
import type { Share } from './share.ts'

export type StoredVersion = NodeVersion & { isRetired: boolean }

/** A version before and after what an observation said was taken out of it. */
export interface Withdrawn {
  before: StoredVersion
  after: StoredVersion
  /** Whether nothing is left that somebody said. */
  isBare: boolean
}

/**
 * Takes out of the versions of an entity what an observation said about it at a moment. What somebody else
 * said too stays; under a name that the observation had changed a version goes back to what the one before
 * it holds. Answers the versions that differ.
 */
export function withdraw(
  versions: readonly StoredVersion[],
  share: Share,
  from: { observationId: string; at: string },
): Withdrawn[] {
  const lines = Map.groupBy(versions, ({ kind, scopes, isRetired }) =>
    canonicalJson([kind, ownerOf(scopes), isRetired]),
  )
  return [...lines.values()].flatMap((line) => withdrawLine(line, share, from))
}

function withdrawLine(
  line: readonly StoredVersion[],
  share: Share,
  { observationId, at }: { observationId: string; at: string },
): Withdrawn[] {
  const done: Withdrawn[] = []
  let previous: Omit<Withdrawn, 'isBare'> | undefined
  for (const before of line.toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1))) {
    const follows = !before.isRetired && previous?.before.validTo === before.validFrom
    const after = cleaned(before, share, { at, previous: follows ? previous : undefined })
    if (before.observationId === observationId) {
      Object.assign(after, { observationId: null, provenance: null })
      if (before.properties['redacted'] === true) after.properties = {}
    }
    if (canonicalJson(stateOf(before)) !== canonicalJson(stateOf(after))) {
      done.push({ before, after, isBare: isBare(after) })
    }
    previous = { before, after }
  }
  return done
}

interface Cleaning {
  at: string
  previous: Omit<Withdrawn, 'isBare'> | undefined
}

function cleaned(before: StoredVersion, share: Share, { at, previous }: Cleaning): StoredVersion {
  const after: StoredVersion = {
    ...before,
    properties: { ...before.properties },
    said: { ...before.said },
    aliases: before.aliases.filter((alias) => !share.aliases.has(alias)),
    sourcePath:
      before.sourcePath !== null && share.sourcePaths.has(before.sourcePath)
        ? null
        : before.sourcePath,
  }
  for (const [name, values] of share.values) {
    const held = heldBy(before, name)
    if (held === null || !values.has(canonicalJson(held))) continue
    const times = before.said[name] ?? []
    const others = times.filter((time) => time !== at)
    if (others.length > 0) {
      after.said[name] = others
      continue
    }
    const isInherited = times.length === 0
    if (isInherited && previous && !isSame(heldBy(previous.before, name), held)) continue
    delete after.said[name]
    hold(after, name, previous ? heldBy(previous.after, name) : null)
  }
  return after
}

function hold(version: StoredVersion, name: string, value: unknown): void {
  if (name === 't') {
    version.title = typeof value === 'string' ? value : version.key
  } else if (value === null || value === undefined) delete version.properties[name.slice(2)]
  else version.properties[name.slice(2)] = value
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a ?? null) === canonicalJson(b ?? null)
}

function stateOf({ title, properties, aliases, said, sourcePath, observationId }: StoredVersion) {
  return { title, properties, aliases, said, sourcePath, observationId }
}

function isBare({ key, title, properties, aliases, origin }: StoredVersion): boolean {
  const says = title !== key || aliases.length > 0 || Object.keys(properties).length > 0
  return origin === 'agent' && !says
}
