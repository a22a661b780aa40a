import type { Database } from '#db/sql.ts'

/** Uses up transaction ids, as a server does that has been writing for a while. */
export async function burnTransactions(db: Database, count: number): Promise<void> {
  await db`set statement_timeout = 0`
  await db.unsafe(`
    do $$ begin
      for i in 1..${Math.trunc(count)} loop
        perform pg_current_xact_id();
        commit;
      end loop;
    end $$`)
  await db`reset statement_timeout`
}

/**
 * Brings every row of one migrated database into another, as a logical dump and restore does: what the
 * rows say stays, also the transaction ids in them, while the other server counts its own. Both are opened
 * as superuser.
 */
export async function restoreInto(from: Database, to: Database): Promise<void> {
  const tables = await from<{ name: string; columns: string[] }[]>`
    select table_name::text as name, array_agg(column_name::text) as columns
    from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public'
      and table_type = 'BASE TABLE'
      and is_generated = 'NEVER'
    group by table_name`
  await to.begin(async (sql) => {
    // Foreign keys and triggers are not for a restore.
    await sql`set local session_replication_role = replica`
    for (const { name, columns } of tables) {
      const rows = await from`select to_jsonb(t) as row from ${from(name)} as t`
      const list = columns.map((column) => `"${column}"`).join(', ')
      await sql`delete from ${sql(name)}`
      await sql.unsafe(
        `insert into "${name}" (${list}) overriding system value
         select ${list} from jsonb_populate_recordset(null::"${name}", $1)`,
        [sql.json(rows.map(({ row }) => row as never))],
      )
    }
    await sql`
      select setval(pg_get_serial_sequence('events', 'sequence'), max(sequence))
      from events`
  })
}
