import type { Database } from '#db/sql.ts'

const NAMESPACES = 20
const SLICE = 50_000

/**
 * Rows of other namespaces, half messages and half chunks, as many as asked: made in the database by few
 * statements. `admin` is the superuser; keys are not checked row by row, and the index of terms is built at
 * the end.
 */
export async function fillForeign(
  admin: Database,
  rows: number,
  progress: (made: number) => void,
): Promise<void> {
  await admin`drop index observations_terms, chunks_terms`
  const half = Math.ceil(rows / 2 / NAMESPACES)
  for (let n = 0; n < NAMESPACES; n++) {
    const [row] = await admin<{ id: string }[]>`
      insert into namespaces (namespace, version, last_item)
      values (${`foreign:${n}`}, 1, ${2 * half})
      returning id`
    for (let from = 0; from < half; from += SLICE) {
      const to = Math.min(half, from + SLICE)
      await insertObservations(admin, row?.id ?? '', from + 1, to)
      await insertChunks(admin, row?.id ?? '', from + 1, { to, after: half })
    }
    progress(2 * half * (n + 1))
  }
  await admin`create index observations_terms on observations using gin (terms) with (fastupdate = off)`
  await admin`create index chunks_terms on chunks using gin (terms) with (fastupdate = off)`
}

async function insertObservations(admin: Database, id: string, from: number, to: number) {
  await admin`
    insert into observations
      (namespace_id, item, observation_id, source_system, source_stream, kind, occurred_at, content,
       content_hash, status, session_key, scopes, terms, term_tfs, term_count)
    select ${id}, n, 'obs-' || substr(md5(${id} || ':' || n), 1, 24), 'foreign', 's', 'note',
           now() - n * interval '1 minute', 'What others said, number ' || n, md5(n::text),
           'processed', 'session:' || n / 20, array['session:' || n / 20], held.terms,
           array_fill(8::smallint, array[cardinality(held.terms)]), cardinality(held.terms)
    from generate_series(${from}::int, ${to}::int) as n
    cross join lateral ${terms(admin, id, 20)} as held`
}

async function insertChunks(
  admin: Database,
  id: string,
  from: number,
  { to, after }: { to: number; after: number },
) {
  await admin`
    insert into chunks
      (namespace_id, item, node_key, chunk_order, title, text, valid_from, terms, term_tfs, term_count)
    select ${id}, ${after}::int + n, 'doc:' || n / 10, n % 10, 'Document ' || n / 10,
           'What others wrote, number ' || n, now() - n * interval '1 minute', held.terms,
           array_fill(8::smallint, array[cardinality(held.terms)]), cardinality(held.terms)
    from generate_series(${from}::int, ${to}::int) as n
    cross join lateral ${terms(admin, id, 40)} as held`
}

/** Distinct hashes of words of which few are common. `n` makes each row draw anew. */
function terms(admin: Database, id: string, count: number) {
  return admin`(
    select array_agg(distinct hash order by hash) as terms
    from (
      select ('x' || substr(md5(${id} || floor(power(random(), 3) * 50000)::int), 1, 16))::bit(64)::bigint as hash
      from generate_series(1, ${count}::int + n * 0)
    ) as drawn
  )`
}
