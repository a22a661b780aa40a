import type { Sql } from '#db/sql.ts'

/** Owner of what every namespace shares. */
export const SHARED = '0'

export interface PackRow {
  namespaceId: string
  name: string
  version: string
  contentHash: string
  manifest: unknown
  createdAt: string
}

/** Adds a version; undefined when there is one already. */
export async function insertPack(
  sql: Sql,
  { namespaceId, name, version, contentHash, manifest }: Omit<PackRow, 'createdAt'>,
): Promise<PackRow | undefined> {
  const [row] = await sql<PackRow[]>`
    insert into packs (namespace_id, name, version, content_hash, manifest)
    values (${namespaceId}, ${name}, ${version}, ${contentHash}, ${sql.json(manifest as never)})
    on conflict (namespace_id, name, version) do nothing
    returning ${columns(sql)}`
  return row
}

function columns(sql: Sql) {
  return sql`
    namespace_id, name, version, content_hash, manifest,
    to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as created_at`
}

export async function selectPacks(
  sql: Sql,
  packs: readonly Pick<PackRow, 'namespaceId' | 'name' | 'version'>[],
): Promise<PackRow[]> {
  return await sql<PackRow[]>`
    select ${columns(sql)}
    from packs
    where (namespace_id, name, version) in (
      select r."namespaceId", r.name, r.version
      from json_to_recordset(${JSON.stringify(packs)}::text::json)
        as r ("namespaceId" bigint, name text, version text))`
}

export interface PackVersion {
  namespaceId: string
  name: string
  version: string
  description: string | null
}

/** All versions of packs of some owners; of some names, or of all. */
export async function selectPackVersions(
  sql: Sql,
  owners: readonly string[],
  names: readonly string[] | null,
): Promise<PackVersion[]> {
  const named = names === null ? sql`` : sql`and name = any(${[...names]}::text[])`
  return await sql<PackVersion[]>`
    select namespace_id, name, version, manifest ->> 'description' as description
    from packs
    where namespace_id = any(${[...owners]}::bigint[])
      ${named}
    order by namespace_id, name, version`
}

export interface Clash {
  what: 'kind' | 'relation'
  name: string
}

/** Kinds and relations that shared packs declare already. */
export async function selectSharedClashes(
  sql: Sql,
  { kinds, relations }: { kinds: readonly string[]; relations: readonly string[] },
): Promise<Clash[]> {
  return await sql<Clash[]>`
    select distinct 'kind' as what, declared ->> 'kind' as name
    from packs
    cross join jsonb_array_elements(manifest -> 'kinds') as declared
    where namespace_id = ${SHARED}
      and declared ->> 'kind' = any(${[...kinds]}::text[])
    union all
    select distinct 'relation', declared ->> 'relation'
    from packs
    cross join jsonb_array_elements(manifest -> 'relations') as declared
    where namespace_id = ${SHARED}
      and declared ->> 'relation' = any(${[...relations]}::text[])
    order by what, name`
}

/** Numbers of the namespaces of these names that exist. */
export async function selectNamespaceIds(
  sql: Sql,
  names: readonly string[],
): Promise<{ id: string; namespace: string }[]> {
  return await sql<{ id: string; namespace: string }[]>`
    select id, namespace
    from namespaces
    where namespace = any(${[...names]}::text[])`
}

export interface SettingsRow {
  strict: boolean
  packages: string[] | null
}

export async function selectSettings(
  sql: Sql,
  namespace: string,
): Promise<SettingsRow | undefined> {
  const [row] = await sql<SettingsRow[]>`
    select s.strict, s.packages
    from namespaces as n
    join namespace_settings as s on s.namespace_id = n.id
    where n.namespace = ${namespace}`
  return row
}

export async function upsertSettings(
  sql: Sql,
  namespaceId: string,
  { strict, packages }: SettingsRow,
): Promise<void> {
  await sql`
    insert into namespace_settings (namespace_id, strict, packages)
    values (${namespaceId}, ${strict}, ${packages}::text[])
    on conflict (namespace_id) do update
    set strict = excluded.strict, packages = excluded.packages, updated_at = now()`
}
