import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '#db/sql.ts'
import { sharedDb, sharedMemoryDb } from './support/db.ts'

/** Indexes that do not begin with the tenant or the namespace, each with its reason. */
const OTHERWISE: Readonly<Record<string, string>> = {
  api_keys_prefix_key: 'a credential is looked up before its tenant is known',
  iam_identity_unique: 'a token is looked up before its tenant is known',
  tenants_slug_key: 'the tenants themselves',
  installation_pkey: 'one row for the whole installation',
  journal_state_pkey: 'one row for the whole installation',
  instance_pkey: 'one row for the whole installation',
  schema_migrations_pkey: 'the schema itself',
  namespaces_id_key: 'the namespaces themselves',
  event_consumer_cursors_pkey: 'a consumer picks the next tenant over all of them',
  event_consumer_leaders_pkey: 'leaders belong to shards, not to tenants',
  idempotency_records_by_expiry: 'the clean-up looks for what is due over all tenants',
  artifact_uploads_by_expiry: 'the clean-up looks for what is due over all tenants',
  blobs_to_collect: 'the collector looks for what is due over all tenants',
  observation_erasures_due: 'the adapter looks for what is due over all tenants',
  loose_objects_by_due: 'the collector looks for what is due over all tenants',
  observations_terms: 'a term is hashed together with its namespace',
  chunks_terms: 'a term is hashed together with its namespace',
  nodes_terms: 'a term is hashed together with its namespace',
  edges_terms: 'a term is hashed together with its namespace',
  nodes_by_alias: 'an inverted list; the namespace is checked on the few rows found',
  chunks_meta: 'an inverted list; the namespace is checked on the rows found',
  context_traces_by_item: 'an inverted list; the namespace is checked on the few rows found',
  edges_by_observation: 'an inverted list of ids that no two namespaces share',
}

const OWNER = /^(tenant_id|namespace(_id)?)$/

interface Index {
  name: string
  columns: string[]
}

async function indexes(db: Database): Promise<Index[]> {
  return await db<Index[]>`
    select c.relname as name,
           array(
             select pg_get_indexdef(i.indexrelid, position, true)
             from generate_series(1, i.indnkeyatts) position
             order by position) as columns
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_class t on t.oid = i.indrelid
    where t.relnamespace = 'public'::regnamespace
    order by c.relname`
}

const databases = { 'control-plane': await sharedDb(), memory: await sharedMemoryDb() }

describe('the schema', () => {
  for (const [name, db] of Object.entries(databases)) {
    it(`of ${name} begins every key and index with the tenant or the namespace`, async () => {
      const all = await indexes(db)
      assert.ok(all.length > 5)
      const others = all.filter(({ columns: [first = ''] }) => !OWNER.test(first))
      const unexplained = others.filter((index) => !(index.name in OTHERWISE))
      assert.deepEqual(
        unexplained.map((index) => `${index.name} (${index.columns.join(', ')})`),
        [],
      )
    })

    it(`of ${name} never refers from one tenant or namespace to another`, async () => {
      const rows = await db<{ name: string; columns: string[] }[]>`
        select c.conname as name,
               array(
                 select a.attname::text
                 from unnest(c.conkey) with ordinality as k (attnum, position)
                 join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.attnum
                 order by k.position) as columns
        from pg_constraint c
        where c.contype = 'f'
          and c.connamespace = 'public'::regnamespace`
      assert.ok(rows.length > 0)
      const broken = rows.filter(({ columns: [first = ''] }) => !OWNER.test(first))
      assert.deepEqual(
        broken.map((row) => row.name),
        [],
      )
    })
  }

  it('keeps the moments that listings are ordered by as exactly as a page cursor does', async () => {
    const rows = await databases['control-plane']<{ name: string; type: string }[]>`
      select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type
      from pg_index i
      join pg_class c on c.oid = i.indrelid
      join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey::int2[])
      where c.relnamespace = 'public'::regnamespace
        and a.attname = 'created_at'`
    assert.ok(rows.length > 0)
    assert.deepEqual(
      rows.filter(({ type }) => type !== 'timestamp(3) with time zone').map((row) => row.name),
      [],
    )
  })
})
