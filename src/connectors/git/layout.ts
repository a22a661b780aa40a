import { byHash, layOut, PART_LIMITS } from '../part.ts'
import type { Divide, Part, PartLimits } from '../part.ts'
import type { Unit } from '../snapshot.ts'
import { commitUnit, pastFileUnits, personUnits } from './history-units.ts'
import type { RepositoryReading } from './records.ts'
import { branchUnit, fileUnit, repositoryUnit, tagUnit } from './units.ts'
import type { UnitOptions } from './wording.ts'

export interface Layout {
  /** In the order of publication: what relations lead to comes before what they come from. */
  readonly parts: readonly Part[]
  /** The part that says where the head stands; published last, when everything else has arrived. */
  readonly head: Part
}

/** Where the parts of a repository stand. */
export interface Scopes {
  readonly files: string
  readonly tags: string
  readonly people: string
  readonly past: string
  readonly history: string
  /** Of incomplete readings: what they add to a history that was published before. */
  readonly extra: string
  readonly head: string
}

export function scopesOf(repo: string): Scopes {
  return {
    files: `${repo}/files`,
    tags: `${repo}/tags`,
    people: `${repo}/people`,
    past: `${repo}/past`,
    history: `${repo}/history`,
    extra: `${repo}/extra`,
    head: `${repo}/head`,
  }
}

/**
 * Lays a whole reading out over scopes. `documents` are the paths that stand in memory as documents.
 * With an incomplete history only the commits that `isKnown` denies are laid out, under a scope of
 * their own for this head: what was published before is neither repeated nor missing.
 */
export function layOutRepository(
  reading: RepositoryReading,
  options: UnitOptions & {
    documents: ReadonlySet<string>
    isKnown?: (sha: string) => boolean
    limits?: PartLimits
  },
): Layout {
  const { repo, limits = PART_LIMITS } = options
  const { repository, tree } = reading
  const files = tree.map((entry) => fileUnit(options, entry, options.documents.has(entry.path)))
  const published = new Set(reading.commits.map(({ sha }) => sha))
  const tags = reading.tags.map((tag) =>
    tagUnit(options, tag, tag.commit !== undefined && published.has(tag.commit)),
  )
  const scopes = scopesOf(repo)
  const parts = [
    ...layOut(repo, [repositoryUnit(options, reading)], byHash, limits),
    ...layOut(scopes.files, files, byHash, limits),
    ...historyParts(reading, options, limits),
    ...layOut(scopes.tags, tags, byHash, limits),
  ]
  const [head] = layOut(scopes.head, [branchUnit(options, repository)], byHash, limits)
  if (!head) throw new Error('A layout without a head')
  return { parts, head }
}

function historyParts(
  reading: RepositoryReading,
  options: UnitOptions & { isKnown?: (sha: string) => boolean },
  limits: PartLimits,
): Part[] {
  const scopes = scopesOf(options.repo)
  const { commits, historyComplete, repository } = reading
  const live = new Set(reading.tree.map(({ path }) => path))
  if (historyComplete) {
    return [
      ...layOut(scopes.people, personUnits(options, commits), byHash, limits),
      ...layOut(scopes.past, pastFileUnits(options, commits, live), byHash, limits),
      ...byMonth(
        scopes.history,
        commits.map((commit) => commitUnit(options, commit)),
        limits,
      ),
    ]
  }
  const added = commits.filter(({ sha }) => options.isKnown?.(sha) !== true)
  if (added.length === 0) return []
  const scope = `${scopes.extra}/${repository.head?.slice(0, 12)}`
  return [
    ...layOut(`${scope}/people`, personUnits(options, added), byHash, limits),
    ...layOut(`${scope}/past`, pastFileUnits(options, added, live), byHash, limits),
    ...byMonth(
      scope,
      added.map((commit) => commitUnit(options, commit)),
      limits,
    ),
  ]
}

/** One scope for each month of committing, oldest first; a crowded month is divided into days. */
function byMonth(scope: string, commits: readonly Unit[], limits: PartLimits): Part[] {
  const months = Map.groupBy(commits, ({ at }) => day(at).slice(0, 7))
  return [...months]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([month, units]) => layOut(`${scope}/${month}`, units, byDay, limits))
}

const byDay: Divide = (unit, depth) =>
  depth === 0 ? day(unit.at).slice(8) || 'all' : byHash(unit, depth - 1)

function day(at: number | undefined): string {
  return at === undefined ? 'undated' : new Date(at * 1000).toISOString().slice(0, 10)
}
