import { Interrupted } from './cli-error.ts'
import { createCli } from './cli.ts'
import type { Command } from './command.ts'
import type { Credential } from './credentials.ts'
import { describeFailure } from './failure.ts'
import { commandHelp, overview, PROGRAM } from './help.ts'
import type { Io } from './io.ts'
import { nearest } from './nearest.ts'
import { findCommand, parseCall, UsageError } from './parse-argv.ts'
import { createScreen } from './screen.ts'

export interface Program {
  readonly commands: readonly Command[]
  readonly version: string
}

export type ExitCode = 0 | 1 | 2 | 130

/** Runs one command line. Never throws: what went wrong is on stderr and in the exit code. */
export async function runProgram(
  program: Program,
  io: Io,
  argv: readonly string[],
): Promise<ExitCode> {
  try {
    return await runLine(program, io, argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv)
  } catch (error) {
    return fail(io, error)
  }
}

function fail(io: Io, error: unknown, used?: Credential): ExitCode {
  if (io.signal.aborted || error instanceof Interrupted) return 130
  const screen = createScreen(io, false)
  const { exitCode, message, hints } = describeFailure(error, used)
  screen.fail(`${PROGRAM}: ${message}`)
  for (const hint of hints) screen.note(hint)
  return exitCode
}

async function runLine(
  { commands, version }: Program,
  io: Io,
  argv: readonly string[],
): Promise<ExitCode> {
  const { command, rest } = findCommand(commands, argv)
  if (command) return await runCommand(command, rest, io)
  if (rest[0] === '--version') {
    io.stdout.write(`${version}\n`)
    return 0
  }
  return helpOn(commands, rest, io)
}

async function runCommand(command: Command, rest: readonly string[], io: Io): Promise<ExitCode> {
  const call = parseCall(command, rest)
  const { json = false, help = false, server } = call.global
  if (help) {
    io.stdout.write(`${commandHelp(command)}\n`)
    return 0
  }
  const cli = await createCli(io, createScreen(io, json), server)
  try {
    await command.run(cli, call)
    return 0
  } catch (error) {
    return fail(io, error, cli.used())
  }
}

/** Help on the whole or on a group of commands: asked for, an answer; otherwise a hint on stderr. */
function helpOn(commands: readonly Command[], rest: readonly string[], io: Io): ExitCode {
  const [group, ...more] = rest.filter((word) => !word.startsWith('-'))
  const isGroup = commands.some(({ name }) => name.split(' ')[0] === group)
  if (group !== undefined && (!isGroup || more.length > 0))
    throw unknown(commands, [group, ...more])
  const isAsked = rest.some((word) => word === '--help' || word === '-h')
  ;(isAsked ? io.stdout : io.stderr).write(`${overview(commands, group)}\n`)
  return isAsked ? 0 : 2
}

function unknown(commands: readonly Command[], words: readonly string[]): UsageError {
  const names = commands.map(({ name }) => name)
  const lengths = [3, 2, 1]
  const meant = lengths.map((length) => nearest(words.slice(0, length).join(' '), names))
  const found = meant.find((name) => name !== undefined)
  const suggestion = found === undefined ? '' : `; did you mean "${found}"?`
  return new UsageError(`Unknown command "${words.slice(0, 2).join(' ')}"${suggestion}`)
}
