import type { Sql } from '#db/sql.ts'
import type { FactVersion } from '../graph/graph.ts'
import type { StoredTerms } from '../store/terms.ts'
import type { StoredVersion } from './withdraw.ts'

export interface RemovedChunk {
  item: number
  docType: string
  title: string | null
  heading: string | null
  text: string
  meta: Record<string, unknown>
  isOpen: boolean
  termCount: number
}

/** Removes the texts that came from an observation, in every version. Needs `chunks_by_observation`. */
export async function deleteChunks(
  sql: Sql,
  namespaceId: string,
  observationId: string,
): Promise<RemovedChunk[]> {
  return await sql<RemovedChunk[]>`
    delete from chunks
    where namespace_id = ${namespaceId}
      and observation_id is not null
      and observation_id = ${observationId}
    returning item::float8 as item, doc_type, title, heading, text, meta, term_count,
              valid_to is null and retired_at is null as is_open`
}

/** Every version of these keys, corrected ones too. Needs `nodes_by_key`. */
export async function selectAllVersions(
  sql: Sql,
  namespaceId: string,
  keys: readonly string[],
): Promise<StoredVersion[]> {
  return await sql<StoredVersion[]>`
    select item::float8 as item, key, kind, title, properties, aliases, source_path, observation_id,
           provenance, confidence, origin, placeholder, scopes, said, term_count,
           retired_at is not null as is_retired,
           to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
           to_char(valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_to,
           to_char(last_seen at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_seen
    from nodes
    where namespace_id = ${namespaceId}
      and key = any(${[...keys]}::text[])
    order by item`
}

/** Keys of the texts and notes that came from an observation. Needs `nodes_by_observation`. */
export async function selectDerivedKeys(
  sql: Sql,
  namespaceId: string,
  observationId: string,
): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select distinct key
    from nodes
    where namespace_id = ${namespaceId}
      and observation_id is not null
      and observation_id = ${observationId}`
  return rows.map(({ key }) => key)
}

/** Writes what is left of versions. */
export async function updateVersions(
  sql: Sql,
  namespaceId: string,
  rows: readonly (StoredVersion & StoredTerms)[],
): Promise<void> {
  await sql`
    update nodes
    set title = r.title, properties = r.properties, aliases = r.aliases, said = r.said,
        source_path = r."sourcePath", observation_id = r."observationId",
        provenance = r.provenance, placeholder = r.placeholder, terms = r.terms,
        term_tfs = r."termTfs", term_count = r."termCount"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, title text, properties jsonb, aliases text[], said jsonb,
            "sourcePath" text, "observationId" text, provenance jsonb, placeholder boolean,
            terms bigint[], "termTfs" smallint[], "termCount" int)
    where nodes.namespace_id = ${namespaceId}
      and nodes.item = r.item`
}

export async function deleteNodes(
  sql: Sql,
  namespaceId: string,
  items: readonly number[],
): Promise<void> {
  await sql`
    delete from nodes
    where namespace_id = ${namespaceId}
      and item = any(${items.map(String)}::bigint[])`
}

export interface EvidencedFact extends FactVersion {
  isOpen: boolean
}

/** Facts that rest on an observation, alone or with others. Needs `edges_by_observation`. */
export async function selectFactsOn(
  sql: Sql,
  namespaceId: string,
  observationId: string,
): Promise<EvidencedFact[]> {
  return await sql<EvidencedFact[]>`
    select ${edgeColumns(sql)}
    from edges
    where namespace_id = ${namespaceId}
      and observation_ids @> array[${observationId}::text]`
}

/** Facts with one of these ends that stand. Needs `edges_by_subject` and `edges_by_object`. */
export async function selectFactsAbout(
  sql: Sql,
  namespaceId: string,
  keys: readonly string[],
): Promise<EvidencedFact[]> {
  const ends = [...keys]
  return await sql<EvidencedFact[]>`
    select ${edgeColumns(sql)}
    from edges
    where namespace_id = ${namespaceId}
      and (subject = any(${ends}::text[]) or object = any(${ends}::text[]))
      and fact_id is not null
      and not evidence_lost`
}

function edgeColumns(sql: Sql) {
  return sql`
    item::float8 as item, fact_id, subject, subject_kind, predicate, object, object_kind, attributes,
    to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
    to_char(valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_to,
    to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at,
    confidence, observation_ids, supersedes, superseded_by, source_path, origin, scopes, term_count,
    valid_to is null and retired_at is null as is_open`
}

/** Takes an observation out of the evidence of facts. */
export async function dropEvidence(
  sql: Sql,
  namespaceId: string,
  { observationId, items }: { observationId: string; items: readonly number[] },
): Promise<void> {
  await sql`
    update edges
    set observation_ids = array_remove(observation_ids, ${observationId}::text)
    where namespace_id = ${namespaceId}
      and item = any(${items.map(String)}::bigint[])`
}

/**
 * Marks facts that have lost all their evidence: kept for whoever audits, never read again. They name what
 * they rested on, so that a purge finds them.
 */
export async function loseEvidence(
  sql: Sql,
  { id, now }: { id: string; now: string },
  items: readonly number[],
): Promise<void> {
  await sql`
    update edges
    set evidence_lost = true, attributes = '{}', terms = '{}',
        term_tfs = '{}', term_count = 0, retired_at = coalesce(retired_at, ${now}::text::timestamptz)
    where namespace_id = ${id}
      and item = any(${items.map(String)}::bigint[])`
}

export async function deleteEdges(
  sql: Sql,
  namespaceId: string,
  items: readonly number[],
): Promise<void> {
  await sql`
    delete from edges
    where namespace_id = ${namespaceId}
      and item = any(${items.map(String)}::bigint[])`
}

/** Removes the links, which are no facts, of keys. */
export async function deleteLinksOf(
  sql: Sql,
  namespaceId: string,
  keys: readonly string[],
): Promise<{ item: number; isOpen: boolean; termCount: number }[]> {
  const ends = [...keys]
  return await sql<{ item: number; isOpen: boolean; termCount: number }[]>`
    delete from edges
    where namespace_id = ${namespaceId}
      and (subject = any(${ends}::text[]) or object = any(${ends}::text[]))
      and fact_id is null
    returning item::float8 as item, term_count, valid_to is null and retired_at is null as is_open`
}

/** Those of the keys that no fact has as an end. */
export async function selectUnlinked(
  sql: Sql,
  namespaceId: string,
  keys: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key
    from unnest(${[...keys]}::text[]) as key
    where not exists (
        select 1
        from edges
        where namespace_id = ${namespaceId}
          and subject = key
          and fact_id is not null)
      and not exists (
        select 1
        from edges
        where namespace_id = ${namespaceId}
          and object = key
          and fact_id is not null)`
  return rows.map(({ key }) => key)
}

export async function updateFactTerms(
  sql: Sql,
  namespaceId: string,
  rows: readonly (StoredTerms & { item: number })[],
): Promise<void> {
  await sql`
    update edges
    set terms = r.terms, term_tfs = r."termTfs", term_count = r."termCount"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, terms bigint[], "termTfs" smallint[], "termCount" int)
    where edges.namespace_id = ${namespaceId}
      and edges.item = r.item`
}

/** Removes the traces of packs that name one of these items. Needs `context_traces_by_item`. */
export async function deleteTraces(
  sql: Sql,
  namespaceId: string,
  itemIds: readonly string[],
): Promise<number> {
  const rows = await sql`
    delete from context_traces
    where namespace_id = ${namespaceId}
      and items && ${[...itemIds]}::text[]
    returning trace_id`
  return rows.length
}

/** Those of the words, by the hashes of their terms, that no item of the namespace holds. */
export async function deleteUnusedWords(
  sql: Sql,
  namespaceId: string,
  words: readonly { word: string; hash: string }[],
): Promise<string[]> {
  const rows = await sql<{ hash: string }[]>`
    with gone as (
      select r.word, r.hash
      from json_to_recordset(${JSON.stringify(words)}::text::json) as r (word text, hash bigint)
      where not exists (select 1 from observations where terms @> array[r.hash])
        and not exists (select 1 from chunks where terms @> array[r.hash])
        and not exists (select 1 from nodes where terms @> array[r.hash])
        and not exists (select 1 from edges where terms @> array[r.hash])
    )
    delete from vocabulary as v
    using gone
    where v.namespace_id = ${namespaceId}
      and v.word = gone.word
    returning gone.hash::text as hash`
  return rows.map(({ hash }) => hash)
}

/** Tells the indexes of other processes which words to forget, by the hashes of their terms. */
export async function insertForgottenWords(
  sql: Sql,
  { id, version }: { id: string; version: number },
  hashes: readonly string[],
): Promise<void> {
  await sql`
    insert into changes (namespace_id, version, kind, items)
    values (${id}, ${version}, 'word', ${[...hashes]}::bigint[])`
}
