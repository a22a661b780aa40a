// Shows in seconds that the measurements work: runs each once and briefly, without peers.
//   npm run bench:smoke
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

for (const name of ['claims', 'journal']) {
  const program = join(import.meta.dirname, `${name}.ts`)
  execFileSync(process.execPath, [program, '--quick'], { stdio: 'inherit' })
}
