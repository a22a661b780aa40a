import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'

const ROOT = join(import.meta.dirname, '..')

/** Rules that users rely on; each has a test whose name begins with it. */
const RULES = ['B1', 'B2', 'B3', 'B4', 'B6', 'B7', 'B8', 'B9', 'B10', 'B15', 'B17', 'B18']

describe('the rules of what memory promises', () => {
  it('have a test named after each', () => {
    const named = new Set(
      globSync(['src/**/*.test.ts', 'test/**/*.test.ts'], { cwd: ROOT }).flatMap((file) => {
        const text = readFileSync(join(ROOT, file), 'utf8')
        return [...text.matchAll(/^\s*(?:describe|it)\(\s*['"`](B\d+): /gmu)].map(
          ([, rule]) => rule,
        )
      }),
    )
    assert.deepEqual(
      RULES.filter((rule) => !named.has(rule)),
      [],
    )
  })
})
