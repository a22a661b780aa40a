import { parseArgs } from 'node:util'
import { GLOBAL_OPTIONS } from './command.ts'
import type { Args, Command, GlobalValues, OptionSpecs, Value } from './command.ts'
import { nearest } from './nearest.ts'

/** Bad usage: the sentence, and the command whose help would have told, if one was meant. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly command: Command | undefined

  constructor(message: string, command?: Command) {
    super(message)
    this.command = command
  }
}

export interface Call extends Args {
  readonly command: Command
  readonly global: GlobalValues
}

export interface Words {
  readonly command: Command | undefined
  /** `argv` without the words of the command. */
  readonly rest: readonly string[]
}

/** Finds the command that `argv` names; options every command has may stand before its words. */
export function findCommand(commands: readonly Command[], argv: readonly string[]): Words {
  const leading = leadingOptions(argv)
  const words = argv.slice(leading)
  const command = commands
    .filter(({ name }) => name.split(' ').every((word, at) => words[at] === word))
    .toSorted((a, b) => b.name.length - a.name.length)[0]
  const taken = command?.name.split(' ').length ?? 0
  return { command, rest: [...argv.slice(0, leading), ...words.slice(taken)] }
}

function leadingOptions(argv: readonly string[]): number {
  let at = 0
  while (argv[at]?.startsWith('-')) at += argv[at] === '--server' ? 2 : 1
  return Math.min(at, argv.length)
}

/** Reads what follows the words of a command. Throws `UsageError` naming what is wrong. */
export function parseCall(command: Command, rest: readonly string[]): Call {
  const specs: OptionSpecs = { ...GLOBAL_OPTIONS, ...command.options }
  const { tokens } = parseArgs({
    args: [...rest],
    options: Object.fromEntries(
      Object.entries(specs).map(([name, { value }]) => [
        name,
        {
          type: value === undefined ? ('boolean' as const) : ('string' as const),
          ...(name === 'help' && { short: 'h' }),
        },
      ]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const values: Record<string, Value> = {}
  const positionals: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    else if (token.kind === 'option') readOption(command, specs, token, values)
  }
  const isHelp = values['help'] === true
  if (!isHelp) checkPositionals(command, positionals)
  return { command, positionals, values, global: values }
}

interface OptionToken {
  name: string
  rawName: string
  value: string | undefined
  inlineValue: boolean | undefined
}

function readOption(
  command: Command,
  specs: OptionSpecs,
  { name, rawName, value, inlineValue }: OptionToken,
  values: Record<string, Value>,
): void {
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined
  if (spec === undefined) throw unknownOption(command, name, specs)
  if (spec.value === undefined) {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`, command)
    values[name] = true
    return
  }
  if (value === undefined) throw new UsageError(`${rawName} needs a value`, command)
  if (inlineValue !== true && /^-./.test(value)) {
    const how = `if it is "${value}", write ${rawName}=${value}`
    throw new UsageError(`${rawName} needs a value; ${how}`, command)
  }
  const before = values[name]
  if (spec.repeat) values[name] = [...(Array.isArray(before) ? before : []), value]
  else if (before === undefined) values[name] = value
  else throw new UsageError(`${rawName} is given twice`, command)
}

function unknownOption(command: Command, name: string, specs: OptionSpecs): UsageError {
  const meant = nearest(name, Object.keys(specs))
  const suggestion = meant === undefined ? '' : `; did you mean --${meant}?`
  return new UsageError(`Unknown option --${name}${suggestion}`, command)
}

function checkPositionals(command: Command, given: readonly string[]): void {
  const wanted = command.args.split(' ').filter((word) => word !== '')
  const required = wanted.filter((word) => word.startsWith('<'))
  const absent = required[given.length]
  if (absent !== undefined) throw new UsageError(`${absent} is missing`, command)
  if (given.includes('')) throw new UsageError('An argument is empty', command)
  const isOpen = wanted.some((word) => word.includes('...'))
  if (!isOpen && given.length > wanted.length) {
    throw new UsageError(`Unexpected argument "${given[wanted.length]}"`, command)
  }
}
