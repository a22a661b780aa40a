import { homedir } from 'node:os'
import { productVersion } from '#lib/version.ts'
import { COMMANDS } from './commands.ts'
import { runProgram } from './program.ts'

const interrupt = new AbortController()
let signalCode = 0
for (const [name, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.on(name, () => {
    if (signalCode !== 0) process.exit(code)
    signalCode = code
    interrupt.abort()
  })
}
// Whoever reads the answer may stop early: `control-plane events tail | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

const exitCode = await runProgram(
  { commands: COMMANDS, version: productVersion() },
  {
    env: process.env,
    cwd: process.cwd(),
    home: homedir(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interrupt.signal,
  },
  process.argv.slice(2),
)
process.exitCode = exitCode === 130 && signalCode !== 0 ? signalCode : exitCode
