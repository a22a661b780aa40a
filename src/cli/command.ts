import type { Cli } from './cli.ts'

export interface OptionSpec {
  /** What stands for its value in help, such as `seconds`; without it the option is a switch. */
  readonly value?: string
  /** May be given more than once. */
  readonly repeat?: true
  readonly summary: string
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>

type ValueOf<S extends OptionSpec> = S extends { value: string }
  ? S extends { repeat: true }
    ? readonly string[]
    : string
  : boolean

export type Values<O extends OptionSpecs> = { readonly [K in keyof O]?: ValueOf<O[K]> }
export type Value = string | boolean | readonly string[]

export interface Args<V = Readonly<Record<string, Value>>> {
  readonly positionals: readonly string[]
  readonly values: V
}

/** One command as data: parsing, help and suggestions are made from it. */
export interface Command {
  /** The words that call it, such as `task claim`. */
  readonly name: string
  /** `<x>` is required, `[x]` optional, three dots inside take any number of words. */
  readonly args: string
  readonly summary: string
  /** Further lines of its help. */
  readonly details: readonly string[]
  readonly options: OptionSpecs
  readonly run: (cli: Cli, args: Args) => Promise<void>
}

/** Ties the values a command reads to the options it declares. */
export function command<const O extends OptionSpecs>(definition: {
  name: string
  args?: string
  summary: string
  details?: readonly string[]
  options?: O
  run: (cli: Cli, args: Args<Values<O>>) => Promise<void>
}): Command {
  const { name, args = '', summary, details = [], options = {}, run } = definition
  // What `parseArgs` of this program reads is what `options` declares.
  return { name, args, summary, details, options, run: run as Command['run'] }
}

/** Options that every command has. */
export const GLOBAL_OPTIONS = {
  server: { value: 'url', summary: 'Address of the control plane' },
  json: { summary: 'Print the whole answer as JSON' },
  help: { summary: 'Show this help' },
} as const satisfies OptionSpecs

export type GlobalValues = Values<typeof GLOBAL_OPTIONS>
