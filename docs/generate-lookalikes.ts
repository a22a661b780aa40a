// Writes src/lib/lookalikes.ts: run `node docs/generate-lookalikes.ts` after the data or the name changed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compactTable, renderLookalikes } from '../test/support/lookalikes.ts'

writeFileSync(
  join(import.meta.dirname, '../src/lib/lookalikes.ts'),
  renderLookalikes(compactTable()),
)
