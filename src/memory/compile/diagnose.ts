import type { DIAGNOSES, DiagnoseBody, diagnose as contract } from '#contract/memory-ask.ts'
import type { RouteReply } from '#contract/route.ts'
import type { Sql } from '#db/sql.ts'
import { plainInstant } from '#lib/instant.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { analyse } from '../analysis/terms.ts'
import type { Item, ItemKind, Ranked } from '../recall/item.ts'
import { loadItems } from '../recall/load-items.ts'
import { understand } from '../recall/query.ts'
import type { Reader } from '../recall/reader.ts'
import { shown } from '../shown.ts'
import { audienceOf } from '../visibility.ts'
import { compileContext, rankFor } from './build-context.ts'
import type { Compiled, ContextDeps } from './build-context.ts'
import { HIDDEN } from './collapse.ts'
import { selectVersions } from './diagnose.sql.ts'
import type { VersionRow } from './diagnose.sql.ts'
import { hideSuccessors } from './successors.ts'

type Diagnosis = RouteReply<typeof contract>
type Name = (typeof DIAGNOSES)[number]

/** How far down the ranking is looked: beyond it nothing is scored closely. */
const WIDE_POOL = 1000

/**
 * Why something is or is not in the answer to a question, for whoever asks it: by asking it and following
 * what became of the thing. What is invisible to the reader is answered like what is not there.
 */
export async function diagnose(
  sql: Sql,
  ctx: MemoryCtx,
  { id, ...question }: DiagnoseBody,
  deps: ContextDeps,
): Promise<Diagnosis> {
  const compiled = await compileContext(sql, ctx, question, deps)
  const version = await versionOf(sql, compiled, id)
  if (version === undefined) return answer(id, compiled, { name: 'unknown', text: UNKNOWN })
  const item = await itemOf(sql, compiled, { id, version })
  const known = { version, item, terms: termsOf(question.query, item) }
  const outcome = outcomeOf(compiled, id)
  if (outcome) return answer(id, compiled, { ...outcome, ...known })
  const hindrance = await hindranceOf(sql, compiled, known)
  if (hindrance) return answer(id, compiled, { ...hindrance, ...known })
  const { scope, now } = compiled
  const wide = await rankFor(sql, question, { scope, now, indexes: deps.indexes, pool: WIDE_POOL })
  const ranking = wide.ranking
  const place = ranking.findIndex((ranked) => ranked.item.id === id)
  const found: Found =
    place === -1
      ? { name: 'not found', text: 'No channel of this strategy finds it for this question.' }
      : { name: 'below rank', text: `It is at place ${place + 1}; so many are not shown.`, ranking }
  return answer(id, compiled, { ...found, ...known })
}

const UNKNOWN = 'Nothing of this id is there for this reader.'

const PREFIX: readonly [string, ItemKind][] = [
  ['obs-', 'observation'],
  ['fact-', 'fact'],
  ['chunk:', 'chunk'],
  ['node:', 'entity'],
]

function readId(id: string): { kind: ItemKind; name: string } | undefined {
  const [prefix, kind] = PREFIX.find(([start]) => id.startsWith(start)) ?? []
  if (prefix === undefined || kind === undefined) return undefined
  const rest = id.slice(prefix.length)
  if (kind === 'chunk') return /^\d{1,15}$/.test(rest) ? { kind, name: rest } : undefined
  return { kind, name: kind === 'entity' ? rest : id }
}

async function versionOf(
  sql: Sql,
  { scope }: Compiled,
  id: string,
): Promise<VersionRow | undefined> {
  const named = readId(id)
  if (named === undefined || scope.namespaces.length === 0) return undefined
  const namespaceIds = scope.namespaces.map((namespace) => namespace.id)
  const [first] = await selectVersions(sql, { namespaceIds, reader: scope.reader, ...named })
  return first
}

async function itemOf(
  sql: Sql,
  { scope }: Compiled,
  { id, version }: { id: string; version: VersionRow },
): Promise<Item | undefined> {
  const namespace = scope.namespaces.find((one) => one.id === version.namespaceId)
  const kind = readId(id)?.kind
  if (namespace === undefined || kind === undefined) return undefined
  const loaded = await loadItems(sql, scope.reader, [{ namespace, kind, item: version.item }])
  return [...loaded.values()][0]
}

interface Found {
  name: Name
  text: string
  ranking?: readonly Ranked[]
  version?: VersionRow
  item?: Item | undefined
  terms?: Diagnosis['terms']
}

const REASONS: Readonly<Record<string, Name>> = {
  budget: 'budget',
  duplicate: 'duplicate',
  lifecycle: 'lifecycle',
  beside: 'beside',
  superseded: 'superseded',
}

/** What became of it in the pack; undefined where it never came so far. */
function outcomeOf({ pack, dropped, ranking }: Compiled, id: string): Found | undefined {
  for (const { kind, items } of pack.sections) {
    const place = items.findIndex((item) => item.id === id)
    if (place === -1) continue
    return { name: 'returned', text: `It is at place ${place + 1} of section ${kind}.`, ranking }
  }
  const left = dropped.find((one) => one.id === id)
  if (left === undefined) return undefined
  const name = REASONS[left.reason.split(' ')[0] ?? '']
  if (name !== undefined) return { name, text: `It was left out: ${left.reason}.`, ranking }
  const place = ranking.findIndex(({ item }) => item.id === id)
  if (place === -1) return undefined
  return {
    name: 'below rank',
    text: `It is at place ${place + 1}; so many are not shown.`,
    ranking,
  }
}

/** What kept it from being looked for at all. */
async function hindranceOf(
  sql: Sql,
  { scope }: Compiled,
  { version, item }: { version: VersionRow; item: Item | undefined },
): Promise<Found | undefined> {
  const { reader, namespaces } = scope
  if (!version.isKnown) {
    return { name: 'not known then', text: `It was learnt at ${plainInstant(version.ingestedAt)}.` }
  }
  if (!version.isTrue) return await untrue(sql, { reader, namespaces, version, item })
  if (!isRelevant(reader, version.scopes)) {
    return { name: 'about something else', text: 'Its scopes and those of the question differ.' }
  }
  if (item === undefined || item.text.trim() === '') {
    return { name: 'says nothing', text: 'It has no text, or what it said was taken away.' }
  }
  return undefined
}

async function untrue(
  sql: Sql,
  {
    reader,
    namespaces,
    version,
    item,
  }: Pick<Compiled['scope'], 'reader' | 'namespaces'> & {
    version: VersionRow
    item: Item | undefined
  },
): Promise<Found> {
  if (version.supersededBy !== null && item?.supersededBy !== null && item !== undefined) {
    const told = await hideSuccessors(sql, reader, [{ item, score: 0, signals: {} }], namespaces)
    const by = told[0]?.item.supersededBy ?? HIDDEN
    const what = by === HIDDEN ? 'Something else' : by
    return { name: 'superseded', text: `${what} took its place at the moment asked about.` }
  }
  const until = version.validTo === null ? '' : ` until ${plainInstant(version.validTo)}`
  return {
    name: 'not true then',
    text: `It holds from ${plainInstant(version.startsAt)}${until}.`,
  }
}

/** The form of `readable` for one item's scopes. */
function isRelevant({ relevance }: Reader, scopes: readonly string[]): boolean {
  if (relevance.filter === 'none' || scopes.some((scope) => relevance.scopes.includes(scope))) {
    return true
  }
  return relevance.filter === 'about' ? scopes.length === 0 : audienceOf(scopes).length === 0
}

function termsOf(query: string, item: Item | undefined): Diagnosis['terms'] {
  const asked = understand(query).terms
  const held = analyse(item === undefined ? '' : `${item.title ?? ''}\n${item.text}`)
  return { asked: [...asked], held: asked.filter((term) => held.has(term)) }
}

function answer(
  id: string,
  { pack, ranking: read }: Compiled,
  { name, text, ranking = [], version, terms }: Found,
): Diagnosis {
  const place = ranking.findIndex(({ item }) => item.id === id)
  const shownScores = pack.sections.flatMap(({ kind, items }) =>
    kind === 'current' ? [] : items.map(({ score }) => score),
  )
  return {
    id: shown(id),
    diagnosis: name,
    explanation: shown(text),
    rank: place === -1 ? null : place + 1,
    candidates: Math.max(ranking.length, read.length),
    score: place === -1 ? null : Number((ranking[place]?.score ?? 0).toFixed(6)),
    last_score: shownScores.length === 0 ? null : Math.min(...shownScores),
    signals: shown(ranking[place]?.signals ?? {}),
    terms: shown(terms ?? { asked: [], held: [] }),
    validity: version
      ? {
          valid_from: plainInstant(version.startsAt),
          valid_to: version.validTo === null ? null : plainInstant(version.validTo),
          ingested_at: plainInstant(version.ingestedAt),
        }
      : null,
    engine: pack.stats.engine,
  }
}
