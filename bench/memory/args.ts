import { parseArgs } from 'node:util'
import type { BenchArgs } from '../kit/args.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import type { Report } from '../kit/report.ts'
import type { BenchServer } from '../kit/server.ts'
import type { Corpus } from './corpus.ts'

/** How much is stored and asked. */
export interface Sizes {
  observations: number
  chunks: number
  foreign: number
  /** Questions of each measurement. */
  questions: number
  /** Observations of the smallest and of the largest namespace that growth compares. */
  small: number
  large: number
}

/** What every part needs. */
export interface MemoryBench {
  server: BenchServer
  report: Report
  sizes: Sizes
  corpus: Corpus
}

/** A part over the database that holds the foreign rows too. */
export type OwnBench = MemoryBench & { database: { admin: Database; address: DatabaseAddress } }

const SIZES: Readonly<Record<'quick' | 'usual' | 'full', Sizes>> = {
  quick: {
    observations: 1_000,
    chunks: 400,
    foreign: 2_000,
    questions: 30,
    small: 500,
    large: 2_000,
  },
  usual: {
    observations: 20_000,
    chunks: 20_000,
    foreign: 100_000,
    questions: 300,
    small: 2_000,
    large: 40_000,
  },
  full: {
    observations: 100_000,
    chunks: 100_000,
    foreign: 1_000_000,
    questions: 1_000,
    small: 10_000,
    large: 1_000_000,
  },
}

const PARTS = ['record', 'context', 'growth']

/** Ends the process with 2 for anything but the flags and the names of parts. */
export function readMemoryArgs(): {
  sizes: Sizes
  wanted: (part: string) => boolean
  args: BenchArgs
} {
  try {
    const { values, positionals } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        full: { type: 'boolean', default: false },
        json: { type: 'string' },
      },
      allowPositionals: true,
    })
    const unknown = positionals.find((name) => !PARTS.includes(name))
    if (unknown !== undefined) throw new Error(`unknown part "${unknown}"`)
    const { quick, full, json } = values
    const sizes = SIZES[quick ? 'quick' : full ? 'full' : 'usual']
    const wanted = (part: string) => positionals.length === 0 || positionals.includes(part)
    return {
      sizes,
      wanted,
      args: { quick, json, only: positionals, rounds: undefined, size: sizes.observations },
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    process.stderr.write(`Cannot measure: ${reason}\n`)
    process.stderr.write(`Give --quick or --full, --json FILE, or parts: ${PARTS.join(', ')}\n`)
    return process.exit(2)
  }
}
