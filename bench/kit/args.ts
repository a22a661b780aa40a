import { parseArgs } from 'node:util'

export interface BenchArgs {
  /** One round of little: to see that it works, not for figures to quote. */
  quick: boolean
  /** How often everything is measured, beside a round that warms up; undefined: what each part takes. */
  rounds: number | undefined
  /** How many tasks have been finished, or events written, before the largest measurement. */
  size: number
  /** Where the results go as JSON; `-` is standard output, instead of the tables. */
  json: string | undefined
  /** Parts to run; all when empty. */
  only: string[]
}

const USAGE = 'Give --quick, --rounds N, --size N, --json FILE'

/** The flags and the names of parts. Ends the process with 2 for anything else. */
export function readArgs(
  parts: readonly string[],
  size: { size: number; quick: number },
): BenchArgs {
  try {
    return parse(parts, size)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    const named = parts.length === 0 ? '' : `, or parts: ${parts.join(', ')}`
    process.stderr.write(`Cannot measure: ${reason}\n${USAGE}${named}\n`)
    return process.exit(2)
  }
}

function parse(parts: readonly string[], size: { size: number; quick: number }): BenchArgs {
  const { values, positionals } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      size: { type: 'string' },
      json: { type: 'string' },
    },
    allowPositionals: true,
  })
  const unknown = positionals.find((name) => !parts.includes(name))
  if (unknown !== undefined) throw new Error(`unknown part "${unknown}"`)
  const { quick, json } = values
  return {
    quick,
    json,
    rounds: countOf('rounds', values.rounds),
    size: countOf('size', values.size) ?? (quick ? size.quick : size.size),
    only: positionals,
  }
}

function countOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new Error(`--${name} must be a whole number of at least 1`)
  return Number(text)
}

/** How often a part measures, beside the rounds that warm up. */
export interface Effort {
  rounds: number
  warmUp: number
}

/** As often as was asked for, or as the part takes by itself; once and cold when it is quick. */
export function effortOf({ quick, rounds }: BenchArgs, usual: number): Effort {
  return quick ? { rounds: rounds ?? 1, warmUp: 0 } : { rounds: rounds ?? usual, warmUp: 1 }
}
