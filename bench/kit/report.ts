import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { BenchArgs } from './args.ts'
import { loadText } from './machine.ts'
import type { Setting } from './machine.ts'
import { number } from './stats.ts'

export interface Table {
  title: string
  columns: string[]
  rows: string[][]
  /** What one has to know to read the table. */
  notes?: string[]
}

/** What was aimed at and what came out. */
export interface Target {
  name: string
  value: number
  unit: string
  atMost?: number
  atLeast?: number
}

export interface Report {
  table: (table: Table) => void
  /** Figures behind the tables, for the JSON. */
  data: (name: string, value: unknown) => void
  target: (target: Target) => void
  progress: (message: string) => void
  finish: () => void
}

/** Prints tables as they come; with `--json` everything is also written as one document. */
export function createReport(args: BenchArgs, setting: Setting): Report {
  const command = `node bin/run.mjs bench/${basename(process.argv[1] ?? '')} ${process.argv.slice(2).join(' ')}`
  const tables: Table[] = []
  const targets: (Target & { met: boolean })[] = []
  const data: Record<string, unknown> = {}
  const print = (line: string) => {
    if (args.json !== '-') process.stdout.write(`${line}\n`)
  }
  const begun = performance.now()
  print(`$ ${command.trim()}`)
  for (const [name, value] of Object.entries(setting)) print(`${name.padEnd(11)} ${value}`)
  return {
    table(table) {
      tables.push(table)
      print('')
      for (const line of tableLines(table)) print(line)
    },
    data(name, value) {
      data[name] = value
    },
    target(target) {
      targets.push({ ...target, met: isMet(target) })
    },
    progress(message) {
      process.stderr.write(`... ${message}\n`)
    },
    finish() {
      const seconds = (performance.now() - begun) / 1000
      if (targets.length > 0) print('')
      for (const target of targets) print(targetLine(target))
      print(`\n${number(seconds)} s, load afterwards ${loadText()}`)
      if (args.json === undefined) return
      const document = { command, setting, seconds, loadAfter: loadText(), tables, data, targets }
      const text = `${JSON.stringify(document, null, 2)}\n`
      if (args.json === '-') process.stdout.write(text)
      else writeFileSync(args.json, text)
    },
  }
}

function isMet({ value, atMost, atLeast }: Target): boolean {
  return (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)
}

function targetLine(target: Target & { met: boolean }): string {
  const { name, value, unit, atMost, atLeast, met } = target
  const limit = atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`
  return `${met ? 'met    ' : 'MISSED '} ${name}: ${number(value)} ${unit} (${limit})`
}

/** The first column to the left, the others to the right. */
function tableLines({ title, columns, rows, notes = [] }: Table): string[] {
  const all = [columns, ...rows]
  const widths = columns.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  )
  const line = (row: string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [title, line(columns), ...rows.map(line), ...notes.map((note) => `  ${note}`)]
}
