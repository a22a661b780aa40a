#!/usr/bin/env node
// npm test                       every test, against an embedded PostgreSQL of its own
// npm test -- src/work           the test files under a folder; also single files and globs
// npm test -- --test-name-pattern="claim" src/work
// npm test -- --unit             only what needs no database
// TEST_DATABASE_URL=... npm test   against that server instead
// TEST_SEED=42 npm test            the property tests with this seed; with CI set it is always the same
import { cpus } from 'node:os'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { ROOT, spawnNode } from './node.mjs'

const options = process.argv.slice(2).filter((word) => word.startsWith('-'))
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('-'))
const unit = options.includes('--unit')

const files =
  wanted.length === 0 ? listTests('src').concat(listTests('test')) : wanted.flatMap(narrow)
const chosen = unit ? files.filter((file) => !needsDatabase(file)) : files
const absent = chosen.filter((file) => !existsSync(join(ROOT, file)))
if (chosen.length === 0 || absent.length > 0) {
  process.stdout.write(`No such test file: ${absent.join(', ')}\n0 passed, 0 failed\n`)
  process.exit(1)
}
const fixedSeed = process.env.CI || process.env.TEST_SEED
spawnNode(
  [
    ...(fixedSeed ? ['--import=./test/support/seed.ts'] : []),
    '--test',
    // Without a database to share the machine with, every core may run a file.
    ...(unit
      ? [`--test-concurrency=${cpus().length}`]
      : ['--test-global-setup=test/support/global.ts']),
    '--test-timeout=120000',
    '--test-reporter=./test/support/reporter.ts',
    '--test-reporter-destination=stdout',
    ...options.filter((word) => word !== '--unit'),
    ...chosen,
  ],
  { cwd: ROOT },
)

function narrow(word) {
  const path = relative(ROOT, resolve(ROOT, word)) || '.'
  return existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory()
    ? listTests(path)
    : [path]
}

function listTests(folder) {
  if (!existsSync(join(ROOT, folder))) return []
  const found = readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return listTests(path)
    return entry.name.endsWith('.test.ts') ? [path] : []
  })
  // oxlint-disable-next-line unicorn/no-array-sort -- an older Node has no toSorted
  return found.sort()
}

/** True for the stories below test/, and for a file that reaches the test server or starts one. */
function needsDatabase(file, seen = new Set()) {
  const path = resolve(ROOT, file)
  if (seen.has(path) || !existsSync(path)) return false
  seen.add(path)
  if (/[\\/]test[\\/]support[\\/](db|server)\.ts$/.test(path)) return true
  if (/^test[\\/].*[\\/].*\.test\.ts$/.test(relative(ROOT, path))) return true
  const text = readFileSync(path, 'utf8')
  if (/from '(#db\/embedded\/|\.\/)start\.ts'/.test(text)) return true
  const imports = [...text.matchAll(/from '(\.[^']+\.ts)'/g)]
  return imports.some(([, target]) => needsDatabase(resolve(dirname(path), target), seen))
}
