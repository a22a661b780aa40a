import type { Database } from '#db/sql.ts'

/** Every table that holds something of a namespace, by the column that names it. */
async function tablesOf(db: Database): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select c.relname as name
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attname = 'namespace_id'
    where c.relkind = 'r'
      and c.relnamespace = 'public'::regnamespace
    order by c.relname`
  return rows.map(({ name }) => name)
}

/** The tables of memory in which a text still stands anywhere in rows of a namespace. */
export async function tablesHolding(
  db: Database,
  namespace: string,
  text: string,
): Promise<string[]> {
  const found: string[] = []
  for (const table of await tablesOf(db)) {
    const [row] = await db`
      select 1
      from ${db(table)} as t
      join namespaces as n on n.id = t.namespace_id
      where n.namespace = ${namespace}
        and strpos(lower(t::text), ${text.toLowerCase()}) > 0
      limit 1`
    if (row) found.push(table)
  }
  return found
}
