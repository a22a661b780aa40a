import type { Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { catalogOf } from './catalog.ts'
import type { Catalog } from './catalog.ts'
import { selectNamespaceIds, selectPackVersions, selectSettings, SHARED } from './pack.sql.ts'
import type { PackVersion } from './pack.sql.ts'
import type { PackCache } from './pack-cache.ts'
import { compareVersions } from './version.ts'

/** What a namespace that was never set up has. */
export const NO_SETTINGS = { strict: false, packages: null }

/**
 * What counts in a namespace: the packs of its settings in their order, and at the end the built-in
 * `default`. One query where nothing is set.
 */
export async function readCatalog(sql: Sql, packs: PackCache, namespace: string): Promise<Catalog> {
  const { strict, packages } = (await selectSettings(sql, namespace)) ?? NO_SETTINGS
  return await catalogOfRefs(sql, packs, { namespace, strict, refs: packages ?? [] })
}

export async function catalogOfRefs(
  sql: Sql,
  packs: PackCache,
  { namespace, strict, refs }: { namespace: string; strict: boolean; refs: readonly string[] },
): Promise<Catalog> {
  const versions = await findPacks(
    sql,
    namespace,
    refs.filter((ref) => !isBuiltIn(ref)),
  )
  const loaded = await packs.load(
    sql,
    versions.filter((one) => one !== undefined),
  )
  return catalogOf([...loaded, packs.builtIn], strict)
}

/**
 * The same for a snapshot that names the pack it was made by: it has to be one of the namespace's, in the
 * version that is used there; where the namespace has chosen none, any shared pack will do. Throws
 * `invalid_request`.
 */
export async function readSnapshotCatalog(
  sql: Sql,
  packs: PackCache,
  { namespace, pack }: { namespace: string; pack: string | null },
): Promise<{ catalog: Catalog; ref: string | null }> {
  const { strict, packages } = (await selectSettings(sql, namespace)) ?? NO_SETTINGS
  const refs = packages ?? (pack === null ? [] : [pack])
  const catalog = await catalogOfRefs(sql, packs, { namespace, strict, refs })
  if (pack === null) return { catalog, ref: null }
  const ref = catalog.packages.find((one) => one === pack || nameOf(one) === pack)
  if (ref === undefined)
    throw notEnabled(packages === null ? 'is not registered' : 'is not enabled')
  return { catalog, ref }
}

/**
 * The versions that references stand for in a namespace, undefined for one that stands for nothing: the
 * newest where no version is named. A tenant's pack is looked for in the namespace and then in those it
 * is under (`tenant:1` of `tenant:1:ws:2`).
 */
export async function findPacks(
  sql: Sql,
  namespace: string,
  refs: readonly string[],
): Promise<(PackVersion | undefined)[]> {
  if (refs.length === 0) return []
  const wanted = refs.map(readRef)
  const owners = wanted.some(({ isTenant }) => isTenant) ? await ownersOf(sql, namespace) : []
  const names = wanted.map(({ name }) => name)
  const found = await selectPackVersions(sql, [...owners, SHARED], names)
  return wanted.map(({ isTenant, name, version }) => {
    const fitting = (owner: string) =>
      found
        .filter((one) => one.namespaceId === owner && one.name === name)
        .filter((one) => version === undefined || one.version === version)
        .toSorted((a, b) => compareVersions(a.version, b.version))
        .at(-1)
    return (isTenant ? owners : [SHARED]).map(fitting).find((one) => one !== undefined)
  })
}

/** The namespace and those it is under that exist, the nearest first. */
export async function ownersOf(sql: Sql, namespace: string): Promise<string[]> {
  const parts = namespace.split(':')
  const names = parts.map((_, n) => parts.slice(0, parts.length - n).join(':'))
  const known = new Map(
    (await selectNamespaceIds(sql, names)).map(({ id, namespace: name }) => [name, id]),
  )
  return names.flatMap((name) => known.get(name) ?? [])
}

export function readRef(ref: string): { isTenant: boolean; name: string; version?: string } {
  const isTenant = ref.startsWith(TENANT)
  const [name = '', version] = (isTenant ? ref.slice(TENANT.length) : ref).split('@')
  return { isTenant, name, ...(version !== undefined && { version }) }
}

/** The built-in pack counts everywhere, after all others, whether named or not. */
export function isBuiltIn(ref: string): boolean {
  return ref === 'default' || ref === 'default@1'
}

const TENANT = 'tenant:'

function nameOf(ref: string): string {
  return ref.slice(0, ref.indexOf('@'))
}

function notEnabled(message: string): AppError {
  return new AppError('invalid_request', `Cannot reconcile: the pack ${message}`, {
    details: { errors: [{ loc: 'body.pack', message }] },
  })
}
