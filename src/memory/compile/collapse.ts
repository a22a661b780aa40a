import { composeCompatible } from '#lib/invisible.ts'
import type { Dropped, Item, Ranked } from '../recall/item.ts'

/** What is left of a ranking, in its order, and what was left out with the reason. */
export interface Collapsed {
  kept: Ranked[]
  dropped: Dropped[]
}

/**
 * Takes repetition out of a ranking so that noise never crowds out knowledge: what was replaced yields
 * to its successor, lifecycle events of one task yield to the best of them, and an item whose
 * normalised text equals a better one's is its duplicate. Nothing else is a duplicate: facts that only
 * look alike are different facts. Chunks that hold nothing of the question and stand beside ones that do
 * stay at two for each document.
 */
export function collapse(ranking: readonly Ranked[], asOf: Date): Collapsed {
  const byId = new Map(ranking.map((ranked) => [ranked.item.id, ranked]))
  const kept: Ranked[] = []
  const dropped: Dropped[] = []
  const texts = new Map<string, string>()
  const lifecycles = new Map<string, Ranked>()
  const documents = new Map<string, DocumentSeen>()
  for (const ranked of ranking) {
    const reason = reasonToDrop(ranked, { asOf, texts, lifecycles, documents })
    if (reason === undefined) {
      kept.push(ranked)
      texts.set(normalised(ranked.item), ranked.item.id)
      const thing = lifecycleOf(ranked.item)
      if (thing !== undefined) lifecycles.set(thing, ranked)
      noteChunk(documents, ranked)
      continue
    }
    dropped.push({ id: ranked.item.id, kind: ranked.item.kind, score: ranked.score, reason })
    if (isReplaced(ranked.item, asOf))
      noteReplaced(byId.get(ranked.item.supersededBy ?? ''), ranked)
    else countCollapsed(lifecycles.get(lifecycleOf(ranked.item) ?? ''))
  }
  return { kept, dropped }
}

interface Seen {
  asOf: Date
  /** Normalised text -> id of the item that has it. */
  texts: ReadonlyMap<string, string>
  /** Task -> its lifecycle item. */
  lifecycles: ReadonlyMap<string, Ranked>
  documents: ReadonlyMap<string, DocumentSeen>
}

/** What is kept of a document. */
interface DocumentSeen {
  /** Its best chunk that holds something of the question. */
  best: string
  /** Kept chunks that only stand beside such. */
  beside: number
}

/** A hit in a document is widened by its neighbours, which must not fill the pack. */
const MAX_BESIDE = 2

function reasonToDrop(
  ranked: Ranked,
  { asOf, texts, lifecycles, documents }: Seen,
): string | undefined {
  const { item } = ranked
  if (isReplaced(item, asOf)) {
    return item.supersededBy === HIDDEN ? 'superseded' : `superseded by ${item.supersededBy}`
  }
  const lifecycle = lifecycles.get(lifecycleOf(item) ?? '')
  if (lifecycle !== undefined) return `lifecycle of ${lifecycle.item.id}`
  const same = texts.get(normalised(item))
  if (same !== undefined) return `duplicate of ${same}`
  const document = isBeside(ranked) ? documents.get(documentOf(item)) : undefined
  return document && document.beside >= MAX_BESIDE ? `beside ${document.best}` : undefined
}

function noteChunk(documents: Map<string, DocumentSeen>, ranked: Ranked): void {
  const { item } = ranked
  if (item.kind !== 'chunk') return
  const document = documents.get(documentOf(item))
  if (document === undefined) {
    documents.set(documentOf(item), { best: item.id, beside: isBeside(ranked) ? 1 : 0 })
  } else if (isBeside(ranked)) document.beside += 1
}

/** Whether a chunk holds nothing of the question and was found by its neighbours alone. */
function isBeside({ item, signals }: Ranked): boolean {
  const { lexical, channels } = signals
  return (
    item.kind === 'chunk' &&
    Object.keys(channels ?? {}).join(' ') === 'lexical' &&
    (lexical as { beside?: boolean } | undefined)?.beside === true
  )
}

function documentOf({ namespace, nodeKey }: Item): string {
  return `${namespace}\n${nodeKey}`
}

/** Stands for a successor that the reader may not see. */
export const HIDDEN = ''

/** Whether another item had taken the place of this one by then. */
export function isReplaced(item: Item, asOf: Date): boolean {
  return item.supersededBy !== null && item.closedAt !== null && item.closedAt <= asOf
}

/** The successor says what it replaced. */
function noteReplaced(successor: Ranked | undefined, replaced: Ranked): void {
  if (successor === undefined) return
  const before = successor.signals.supersedes
  successor.signals.supersedes = [...(Array.isArray(before) ? before : []), replaced.item.id]
}

function countCollapsed(lifecycle: Ranked | undefined): void {
  if (lifecycle === undefined) return
  const before = lifecycle.signals.collapsed
  lifecycle.signals.collapsed = (typeof before === 'number' ? before : 0) + 1
}

const LIFECYCLE = /^(?:task|run|claim|session)\.[a-z_.-]+$/u

/**
 * The thing whose life an observation reports, its task before its subject; undefined for anything
 * somebody stated. What was stated about a task (a decision, a finding) is never part of its lifecycle.
 */
export function lifecycleOf(item: Item): string | undefined {
  if (item.kind !== 'observation' || !LIFECYCLE.test(item.type)) return undefined
  const task = item.scopes.find((scope) => scope.startsWith('task:'))
  return `${item.namespace}\n${task ?? item.about[0] ?? item.type}`
}

function normalised(item: Item): string {
  return composeCompatible(item.text).toLowerCase().replaceAll(/\s+/gu, ' ').trim()
}
