import type { Pack, listPacks as contract } from '#contract/memory-packs.ts'
import type { RouteReply } from '#contract/route.ts'
import type { Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { selectNamespaceIds, selectPacks, selectPackVersions, SHARED } from './pack.sql.ts'
import { findPacks, ownersOf } from './resolve-packs.ts'
import { packOf } from './register-pack.ts'
import { compareVersions } from './version.ts'

/** The packs that a namespace can use; without one, what all share. */
export async function listPacks(
  sql: Sql,
  namespace: string | undefined,
): Promise<RouteReply<typeof contract>> {
  const owners = namespace === undefined ? [] : await ownersOf(sql, namespace)
  const versions = await selectPackVersions(sql, [...owners, SHARED], null)
  const byPack = Map.groupBy(versions, ({ namespaceId, name }) => `${namespaceId}/${name}`)
  const packages = [...byPack.values()].flatMap((all) => {
    const newest = all.toSorted((a, b) => compareVersions(b.version, a.version))
    const [first] = newest
    if (!first) return []
    const scope = first.namespaceId === SHARED ? ('shared' as const) : ('tenant' as const)
    const { name, description } = first
    return { name, scope, description, versions: newest.map(({ version }) => version) }
  })
  return { packages: packages.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

/** Throws `not_found` for what the namespace cannot use, whether or not another can. */
export async function getPack(sql: Sql, ref: string, namespace: string | undefined): Promise<Pack> {
  const [found] = await findPacks(sql, namespace ?? '', [ref])
  const [row] = found ? await selectPacks(sql, [found]) : []
  if (!row) throw new AppError('not_found', `Cannot read pack "${ref}": there is none`)
  return packOf(row, row.namespaceId === SHARED ? null : await ownerOf(sql, row, namespace ?? ''))
}

async function ownerOf(
  sql: Sql,
  { namespaceId }: { namespaceId: string },
  namespace: string,
): Promise<string> {
  const parts = namespace.split(':')
  const names = parts.map((_, n) => parts.slice(0, n + 1).join(':'))
  const known = await selectNamespaceIds(sql, names)
  return known.find(({ id }) => id === namespaceId)?.namespace ?? namespace
}
