// Plain JavaScript that every Node >= 18 can run: it finds the Node that can run the rest.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = [24, 12]
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * The Node that runs our TypeScript: the packaged one if it is installed for this machine, otherwise the
 * current one if it is new enough; `undefined` if there is none.
 */
export function findNode() {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const program = process.platform === 'win32' ? 'node.exe' : 'node'
  const packaged = join(ROOT, 'node_modules', `node-${platform}-${process.arch}`, 'bin', program)
  if (existsSync(packaged)) return packaged
  return isNewEnough(process.versions.node) ? process.execPath : undefined
}

/** True for the versions that run TypeScript without a flag and have what we use. */
export function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

/** Runs `file` with these arguments on the right Node and ends as it ends. */
export async function runFile(file, args) {
  if (isNewEnough(process.versions.node)) {
    process.argv.splice(1, process.argv.length, file, ...args)
    await import(pathToFileURL(file).href)
    return
  }
  spawnNode([file, ...args])
}

/** Starts the right Node with these arguments; signals go to it, its exit code becomes ours. */
export function spawnNode(args, options = {}) {
  const node = findNode()
  if (node === undefined) {
    process.stderr.write(
      `Cannot start: Node.js ${NEEDED.join('.')} or newer is needed and this is ${process.versions.node}; ` +
        'install it, or run `npm ci` without --omit=optional where a packaged one exists\n',
    )
    process.exit(2)
  }
  const child = spawn(node, args, { stdio: 'inherit', ...options })
  for (const name of SIGNALS) {
    process.on(name, () => {
      // A terminal sends Ctrl-C to both of us; a second one would mean "at once" to the program.
      if (name !== 'SIGINT' || !process.stdin.isTTY) child.kill(name)
    })
  }
  child.on('error', (error) => {
    process.stderr.write(`Cannot start ${node}: ${error.message}\n`)
    process.exit(2)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    for (const name of SIGNALS) process.removeAllListeners(name)
    process.kill(process.pid, signal)
  })
}
