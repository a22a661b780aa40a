// Writes the pages that are made from the code: `npm run docs`. A test fails when one is out of date.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedPages } from './pages/all.ts'

for (const [file, text] of Object.entries(generatedPages())) {
  writeFileSync(join(import.meta.dirname, '..', file), text)
  process.stdout.write(`${file}\n`)
}
