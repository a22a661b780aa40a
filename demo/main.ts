import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { call } from '#client/client.ts'
import { releaseClaim } from '#contract/claims.ts'
import { createTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { newId } from '#lib/id.ts'
import { reason } from '#lib/start-error.ts'
import { renderContext } from '#prompt/render-context.ts'
import { contextOf, createAgent, finish, leave, takeTask } from './agents.ts'
import { startAll, startRoles } from './strata.ts'

// Two agents work on this repository, one after the other; the second is told what the first found and
// decided. Usage: npm run demo [-- --roles] (--roles: every role as a process of its own).
const run = promisify(execFile)
const REPOSITORY = join(import.meta.dirname, '..')
const say = (text: string) => process.stdout.write(`${text}\n`)

const DECISION =
  'Migrations only go forward: to undo one, write the next. A renamed column stays under its old name until no old process runs.'
const FINDING =
  'Each migration file is one transaction and its checksum is recorded when it is applied.'

/** Enough for what the first agent left and a few documents, and still to be read at a glance. */
const SECTION_CHARS = 4000

const isSplit = process.argv.includes('--roles')
const dataFolder = await mkdtemp(join(tmpdir(), 'strata-demo-'))
try {
  say(`1. Starting Strata ${isSplit ? 'as separate processes' : 'in one process'}`)
  await using strata = await (isSplit ? startRoles(dataFolder) : startAll(dataFolder))
  await tell(strata)
} catch (error) {
  process.stderr.write(`The demo has failed: ${reason(error)}\n`)
  process.exitCode = 1
} finally {
  await rm(dataFolder, { recursive: true, force: true })
}

async function tell({ url, adminKey }: { url: string; adminKey: string }): Promise<void> {
  const admin = { url, token: adminKey }
  const workspace = await call(admin, createWorkspace, { body: { slug: 'demo', name: 'Demo' } })
  say(`   ${url}`)

  say('2. Publishing this repository as knowledge')
  say(await connectRepository({ url, adminKey, workspaceId: workspace.id }))

  const task = await call(admin, createTask, {
    body: {
      title: 'Rename a column without stopping the fleet',
      description: 'Plan and write the migration that renames tasks.title.',
      workspaceId: workspace.id,
    },
  })
  const [first, second] = [await createAgent(admin, 'Ada'), await createAgent(admin, 'Boris')]

  say(`3. Ada claims ${task.publicId}, looks around, decides, and hands the task back`)
  const work = await takeTask(first, task.publicId, 'Find out how migrations work here')
  await leave(first, work, 'finding', FINDING)
  await leave(first, work, 'decision', DECISION)
  await finish(first, work, false)
  await call(first, releaseClaim, {
    params: { id: work.claimId },
    body: { fencingToken: work.fencingToken },
  })

  say(`4. Boris claims ${task.publicId} and asks for its context`)
  const next = await takeTask(second, task.publicId, 'Write the migration')
  const context = await contextOf(second, next)
  const nonce = newId().replaceAll('-', '').slice(-16)
  const section = renderContext(context, { budgetChars: SECTION_CHARS, nonce })
  say(`\n${section}\n`)
  const { memoryStatus, freshness } = context
  say(`   memoryStatus ${memoryStatus}, lag ${freshness.memoryLagEvents}`)
  say(`   fencing token: Ada held ${work.fencingToken}, Boris holds ${next.fencingToken}`)
  check(section, { memoryStatus, lag: freshness.memoryLagEvents })
  say('   what Ada decided is in it, with its source')
  await finish(second, next, true)
  say('5. Boris has completed the task')
}

async function connectRepository(to: { url: string; adminKey: string; workspaceId: string }) {
  const program = join(REPOSITORY, 'bin/control-plane.mjs')
  const args = [program, 'connect', 'git', REPOSITORY, '--workspace', to.workspaceId]
  const env = {
    ...process.env,
    CONTROL_PLANE_SERVER: to.url,
    CONTROL_PLANE_API_KEY: to.adminKey,
    NO_COLOR: '1',
  }
  const { stdout } = await run(process.execPath, args, { env })
  return stdout.trimEnd().replaceAll(/^/gm, '   ')
}

/** The demo is a test too: it fails unless the second agent was told, by a memory that is up to date. */
function check(section: string, state: { memoryStatus: string; lag: number | null }): void {
  const [, fenced = ''] = /<recalled_memory>([^]*)<\/recalled_memory>/.exec(section) ?? []
  const line = fenced.split('\n').find((each) => each.includes(DECISION))
  const problems = [
    line?.includes('[source: ') ? '' : 'the decision is not in the fence with its source',
    state.memoryStatus === 'ok' ? '' : `memoryStatus is ${state.memoryStatus}`,
    state.lag === 0 ? '' : `memory lags ${state.lag} events`,
  ].filter((problem) => problem !== '')
  if (problems.length > 0) throw new Error(problems.join('; '))
}
