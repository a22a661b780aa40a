import type { Sql } from '#db/sql.ts'
import type { RecordedContent } from './mapping.ts'

/** What was recorded under these events; erased observations are absent. */
export async function selectRecordedContents(
  sql: Sql,
  tenantId: string,
  eventIds: readonly string[],
): Promise<Map<string, RecordedContent>> {
  if (eventIds.length === 0) return new Map()
  const rows = await sql<(RecordedContent & { eventId: string })[]>`
    select event_id, content, data, assertions
    from observation_contents
    where tenant_id = ${tenantId}
      and event_id = any (${[...eventIds]}::uuid[])`
  return new Map(rows.map(({ eventId, ...recorded }) => [eventId, recorded]))
}
