// Installs what bench:claims compares with into .bench/peers, which is ignored and used by nothing else.
//   npm run bench:install
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PEERS_FOLDER } from './installed.ts'

mkdirSync(PEERS_FOLDER, { recursive: true })
for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
  copyFileSync(join(import.meta.dirname, 'packages', file), join(PEERS_FOLDER, file))
}
execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
  cwd: PEERS_FOLDER,
  stdio: 'inherit',
})
