import { foreign } from '../access/caller.ts'
import { addVersion, endVersion, replaceVersion, versionsOf } from '../graph/graph.ts'
import type { Graph, NodeVersion, Tracked } from '../graph/graph.ts'
import { endPrivate } from '../graph/put-node.ts'
import { canonicalJson } from '#lib/json.ts'
import { isPrivate, ownerOf } from '../scopes.ts'
import { isVisible } from '../visibility.ts'
import type { Audience } from '../visibility.ts'
import type { MergedEntity } from './merge-sources.ts'

export interface MergedWrite {
  kind: string
  key: string
  /** What the sources say together; undefined when none holds the entity open any more. */
  merged: MergedEntity | undefined
  /** Attributes that the reconciled source said before: what they no longer say goes. */
  saidBefore: Readonly<Record<string, unknown>>
  /** The title that it gave before: what nobody says any more goes too. */
  titleBefore: string | undefined
  at: string
}

/**
 * Brings the node of an entity to what its sources say. What agents said about it besides stays. It
 * ends when no source holds it; a placeholder that stood for it gives way.
 *
 * Throws `permission_denied` when the node is invisible to the writer.
 */
export function putMerged(graph: Graph, write: MergedWrite, writer: Audience): void {
  const owner = ownerOf(write.merged?.scopes ?? [])
  const open = versionsOf(graph, write.key).filter(
    ({ row }) =>
      row.validTo === null && (row.origin === 'snapshot' || ownerOf(row.scopes) === owner),
  )
  const current = open.find(({ row }) => row.kind === write.kind)
  if (current && !current.row.placeholder && !isVisible(current.row.scopes, writer)) throw foreign()
  if (write.merged) openMerged(graph, { write, merged: write.merged, open, current })
  else if (current?.row.placeholder === false) {
    endVersion(graph, current, startAfter(write.at, current))
  }
}

interface Opening {
  write: MergedWrite
  merged: MergedEntity
  open: readonly Tracked<NodeVersion>[]
  current: Tracked<NodeVersion> | undefined
}

function openMerged(graph: Graph, { write, merged, open, current }: Opening): void {
  const isBefore = ({ row }: Tracked<NodeVersion>) =>
    !row.placeholder && ownerOf(row.scopes) === ownerOf(merged.scopes)
  const before = current && isBefore(current) ? current : undefined
  const yielding = open.filter((one) => one.row.placeholder || (one === current && !before))
  const from = [before ?? [], yielding].flat().reduce(startAfter, write.at)
  for (const one of yielding) endVersion(graph, one, from)
  if (!isPrivate(merged.scopes)) endPrivate(graph, { key: write.key, at: from })
  const state = stateOf(before?.row, merged, write)
  if (!before) addVersion(graph, { ...state, validFrom: from, validTo: null, termCount: 0 })
  else if (fingerprint(before.row) === fingerprint(state)) return
  else if (before.row.validFrom === from) replaceVersion(graph, before, state)
  else {
    endVersion(graph, before, from)
    addVersion(graph, { ...state, validFrom: from, validTo: null, termCount: 0 })
  }
}

/** Not before the version known: another source may have been observed later. */
function startAfter(at: string, { row }: Tracked<NodeVersion>): string {
  return row.validFrom > at ? row.validFrom : at
}

type State = Omit<NodeVersion, 'item' | 'validFrom' | 'validTo' | 'termCount'>

function stateOf(
  before: NodeVersion | undefined,
  merged: MergedEntity,
  { kind, key, saidBefore, titleBefore, at }: MergedWrite,
): State {
  const own = Object.entries(before?.properties ?? {}).filter(
    ([name]) => !Object.hasOwn(saidBefore, name),
  )
  const others = before && before.title !== titleBefore ? before.title : key
  return {
    key,
    kind,
    title: merged.title === key ? others : merged.title,
    properties: { ...Object.fromEntries(own), ...merged.attributes },
    aliases: merged.aliases,
    sourcePath: merged.sourcePath,
    observationId: null,
    provenance: merged.provenance,
    confidence: null,
    origin: 'snapshot',
    placeholder: false,
    scopes: merged.scopes,
    lastSeen: at,
    said: {},
  }
}

function fingerprint(state: State): string {
  const { title, properties, aliases, sourcePath, provenance, origin, scopes } = state
  return canonicalJson([
    [title, sourcePath, provenance, origin],
    [properties, aliases.toSorted(), scopes.toSorted()],
  ])
}
