import type { Sql } from '#db/sql.ts'

/** The workspaces that anything in the namespaces is kept to, by their ids. */
export async function selectWorkspaces(sql: Sql, names: readonly string[]): Promise<string[]> {
  const rows = await sql<{ workspace: string }[]>`
    select distinct w.workspace
    from namespaces as n
    join namespace_workspaces as w on w.namespace_id = n.id
    where n.namespace = any(${[...names]}::text[])
    order by w.workspace`
  return rows.map(({ workspace }) => workspace)
}
