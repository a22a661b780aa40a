import { parseArgs } from 'node:util'

export interface BenchArgs {
  /** Fewer rounds and smaller tables: to see that it works, not for figures to quote. */
  quick: boolean
  /** Where the results go as JSON; `-` is standard output, instead of the tables. */
  json: string | undefined
  /** Parts to run; all when empty. */
  only: string[]
}

/** `--quick`, `--json FILE`, and names of parts. Ends the process with 2 for anything else. */
export function readArgs(parts: readonly string[]): BenchArgs {
  try {
    const { values, positionals } = parseArgs({
      options: { quick: { type: 'boolean', default: false }, json: { type: 'string' } },
      allowPositionals: true,
    })
    const unknown = positionals.find((name) => !parts.includes(name))
    if (unknown !== undefined) throw new Error(`unknown part "${unknown}"`)
    return { quick: values.quick, json: values.json, only: positionals }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`Cannot measure: ${reason}\n`)
    process.stderr.write(`Give --quick, --json FILE, or parts: ${parts.join(', ')}\n`)
    process.exit(2)
  }
}
