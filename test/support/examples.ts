import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { codeBlocks, readPage, ROOT } from './markdown.ts'

/** What a page shows, run for real: each marked command with what it printed and what the page promises. */
export interface Example {
  command: string
  printed: string
  /** The JSON below the command, if the page shows one. */
  promised: unknown
}

export interface Reader extends AsyncDisposable {
  /** Types the marked blocks of a page into one shell, in their order. Throws when one fails. */
  follow: (file: string) => Promise<Example[]>
}

const SERVER = 'http://127.0.0.1:8000'
const MEMORY = 'http://127.0.0.1:8077'
/** What stands around the reader: a repository with one commit. */
const REPOSITORY = `
echo '# Notes' > README.md
git init --quiet
git add README.md
git -c user.name=Reader -c user.email=reader@example.com commit --quiet --message 'Begin'`
const END = '--- end of example ---'

/** Somebody who has just started the program in a new folder and now reads our pages beside it. */
export async function newReader(): Promise<Reader> {
  const folder = await mkdtemp(join(tmpdir(), 'strata-reader-'))
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(CP|CB|STRATA|CONTROL_PLANE)_/.test(name),
  )
  const env = {
    ...Object.fromEntries(own),
    HOME: folder,
    NO_COLOR: '1',
    PATH: [await toolFolder(folder), dirname(process.execPath), process.env['PATH']].join(
      delimiter,
    ),
  }
  // Other tests may keep the machine busy; what is shown is not how long memory takes.
  const settings = { CP_PORT: '0', CB_SERVER_PORT: '0', CP_CONTEXT_TIMEOUT_SECONDS: '30' }
  const program = spawn(process.execPath, [join(ROOT, 'bin/strata.mjs'), 'all'], {
    cwd: folder,
    env: { ...env, ...settings },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stop = async () => {
    const ended = program.exitCode === null ? once(program, 'exit') : undefined
    program.kill('SIGTERM')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const { url, memoryUrl } = await ready(program)
    const addressed = (text: string) => text.replaceAll(SERVER, url).replaceAll(MEMORY, memoryUrl)
    const shell = { cwd: folder, env: { ...env, CONTROL_PLANE_SERVER: url } }
    // On its default address the key is found without this.
    await run(shell, 'control-plane login < .strata/admin.key')
    await run(shell, REPOSITORY)
    return {
      follow: (file) => follow(shell, addressed, file),
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Shell {
  cwd: string
  env: Record<string, string | undefined>
}

/** What the reader's shell finds first: our programs, and what the machine may lack. */
async function toolFolder(folder: string): Promise<string> {
  const tools = join(folder, 'tools')
  await mkdir(tools)
  await symlink(join(ROOT, 'bin/control-plane.mjs'), join(tools, 'control-plane'))
  await writeFile(join(tools, 'npx'), '#!/bin/sh\nexec "$@"\n')
  await chmod(join(tools, 'npx'), 0o755)
  for (const name of ['curl', 'jq']) {
    const isThere = spawnSync(name, ['--version']).status === 0
    if (!isThere) await symlink(join(ROOT, `test/support/stand-ins/${name}.mjs`), join(tools, name))
  }
  return tools
}

async function ready(program: ReturnType<typeof spawn>) {
  let said = ''
  for await (const chunk of program.stderr ?? []) {
    said += String(chunk)
    const [, url, memoryUrl] = /is ready at (\S+) .*memory at (\S+)/.exec(said) ?? []
    if (url === undefined || memoryUrl === undefined || !said.includes('Admin key')) continue
    program.stderr?.resume()
    return { url, memoryUrl }
  }
  throw new Error(`The program has ended: ${said}`)
}

async function follow(
  shell: Shell,
  addressed: (text: string) => string,
  file: string,
): Promise<Example[]> {
  const blocks = codeBlocks(readPage(file))
  const examples = blocks.flatMap(({ language, mark, text }, index) => {
    if (language !== 'sh' || !mark.startsWith('run')) return []
    const next = blocks[index + 1]
    const promised: unknown = next?.mark === 'answer' ? JSON.parse(next.text) : undefined
    return [{ command: text, promised, isRefused: mark === 'run, refused' }]
  })
  const script = examples.map(({ command, isRefused }) => {
    const failing = isRefused ? '' : '--fail-with-body'
    return `curl() { command curl ${failing} "$@"; }\n${addressed(command)}\nprintf '\\n%s\\n' '${END}'`
  })
  const printed = (await run(shell, script.join('\n'))).split(`\n${END}\n`)
  return examples.map(({ command, promised }, index) => {
    return { command, promised, printed: printed[index] ?? '' }
  })
}

/** In a shell that stops at the first failure, also inside a pipe. */
async function run({ cwd, env }: Shell, script: string): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, env })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`An example ended with ${code}:\n${stdout}\n${stderr}`)
  return stdout
}
