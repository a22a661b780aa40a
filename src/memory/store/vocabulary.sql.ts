import type { Sql } from '#db/sql.ts'

/** Words that a namespace has not met before, with the version that brought them. */
export async function insertWords(
  sql: Sql,
  { id, version }: { id: string; version: number },
  words: readonly string[],
): Promise<void> {
  await sql`
    insert into vocabulary (namespace_id, word, version)
    select ${id}, word, ${version}
    from unnest(${[...words]}::text[]) as word
    on conflict do nothing`
}

/** The words that came after a version. */
export async function selectWords(sql: Sql, namespaceId: string, after: number): Promise<string[]> {
  const rows = await sql<{ word: string }[]>`
    select word
    from vocabulary
    where namespace_id = ${namespaceId} and version > ${after}`
  return rows.map(({ word }) => word)
}
