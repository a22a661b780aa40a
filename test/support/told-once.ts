import { WHITE_LIST } from '#adapter/white-list.ts'
import type { Database } from '#db/sql.ts'

export interface Told {
  /** Events that memory should have been told. */
  expected: number
  /** Of these, the ones it does not have. */
  missing: string[]
  /** What it has more than once, or without an event. */
  tooMuch: string[]
}

/** Compares the whole journal with everything that memory holds of it, by the id of the event. */
export async function toldOnce(db: Database, memoryDb: Database): Promise<Told> {
  const events = await db<{ id: string }[]>`
    select id
    from events
    where type = any (${Object.keys(WHITE_LIST)}::text[])`
  const rows = await memoryDb<{ externalId: string; count: number }[]>`
    select external_id, count(*)::int as count
    from observations
    where source_system = 'control-plane'
    group by external_id`
  const counts = new Map(rows.map(({ externalId, count }) => [externalId, count]))
  const expected = new Set(events.map(({ id }) => `event:${id}`))
  return {
    expected: expected.size,
    missing: [...expected].filter((id) => !counts.has(id)),
    tooMuch: [...counts].filter(([id, count]) => count > 1 || !expected.has(id)).map(([id]) => id),
  }
}
