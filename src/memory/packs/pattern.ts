import { RE2JS } from 're2js'
import type { RegExpEngine } from 'ajv/dist/types/index.js'

/** A pattern that somebody else wrote, matched in time linear in the text whatever it says. */
export interface Pattern {
  test: (text: string) => boolean
  /** Every match in order: the group `id` where the pattern has one, else the whole match. */
  findAll: (text: string) => string[]
}

const MAX_PROGRAM = 5000

/**
 * Reads a pattern in the syntax of RE2, which has no look-around and no back-references. Throws a plain
 * `Error` with the reason for what is none, or what is too large to be matched quickly.
 */
export function compilePattern(pattern: string): Pattern {
  const compiled = RE2JS.compile(pattern)
  if (compiled.programSize() > MAX_PROGRAM) throw new Error('is too large')
  const hasId = Object.hasOwn(compiled.namedGroups(), 'id')
  return {
    test: (text) => compiled.test(text),
    findAll: (text) => {
      const found: string[] = []
      const matcher = compiled.matcher(text)
      while (matcher.find()) {
        const value = hasId ? matcher.group('id') : matcher.group()
        if (value) found.push(value)
      }
      return found
    },
  }
}

/** The same for the `pattern` of schemas. */
export const linearPatterns: RegExpEngine = Object.assign(
  (pattern: string) => compilePattern(pattern),
  { code: 'linearPatterns' },
)
