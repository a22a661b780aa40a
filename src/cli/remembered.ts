import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Claim } from '#contract/claims.ts'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'
import { holderId } from './cli.ts'
import type { Cli } from './cli.ts'
import { accountFolder } from './credentials.ts'
import { PROJECT_FOLDER, repositoryRoot } from './project.ts'
import { isMissing, readPrivate, writePrivate } from './private-file.ts'

const RememberedClaim = z.strictObject({
  taskId: z.string(),
  taskPublicId: z.string(),
  claimId: z.string(),
  fencingToken: z.int(),
  sessionId: z.string(),
  expiresAt: z.string(),
  /** The run started under the claim, while it is not known to have ended. */
  runId: z.string().nullable(),
})
export type RememberedClaim = z.infer<typeof RememberedClaim>

const RememberedSession = z.strictObject({ sessionId: z.string(), ttlSeconds: z.int() })
export type RememberedSession = z.infer<typeof RememberedSession>

/**
 * What this credential holds on this server, as this folder knows it: a claim is found again with the
 * very fencing token it was given, so a claim that was lost meanwhile is refused and never replaced by a
 * newer one of the same principal. One file for each thing, so commands at the same time do not undo
 * each other; all of it owner-only and ignored by git.
 */
export interface Remembered {
  readonly folder: string
}

export async function rememberedBy(cli: Cli): Promise<Remembered> {
  return { folder: join(await baseFolder(cli), 'state', await holderId(cli)) }
}

/** Beside the configuration, or where `init` would put it; outside of repositories with the account. */
async function baseFolder({ project, io }: Cli): Promise<string> {
  if (project) return project.folder
  const root = await repositoryRoot(io.cwd, io.home)
  return root === undefined ? accountFolder(io) : join(root, PROJECT_FOLDER)
}

/** Keeps a claim, with the run that was started under it. */
export async function rememberClaim(
  { folder }: Remembered,
  claim: Claim,
  runId: string | null = null,
): Promise<void> {
  const { taskId, taskPublicId, id: claimId, fencingToken, sessionId, expiresAt } = claim
  const kept = { taskId, taskPublicId, claimId, fencingToken, sessionId, expiresAt, runId }
  await keep(folder, claimFile(taskId), kept)
}

export async function rememberRun(
  { folder }: Remembered,
  claim: RememberedClaim,
  runId: string | null,
): Promise<void> {
  await keep(folder, claimFile(claim.taskId), { ...claim, runId })
}

export async function forgetClaim({ folder }: Remembered, taskId: string): Promise<void> {
  await rm(join(folder, claimFile(taskId)), { force: true })
}

export async function listClaims({ folder }: Remembered): Promise<RememberedClaim[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw new CliError(`Cannot read ${folder}: ${reason(error)}`, { cause: error })
  })
  const claims: RememberedClaim[] = []
  for (const name of names) {
    if (!/^claim-[0-9a-f-]{36}\.json$/.test(name)) continue
    const claim = await recall(join(folder, name), RememberedClaim)
    if (claim) claims.push(claim)
  }
  return claims
}

/** The claim of a task, by its id or public id however many zeros it is written with. */
export async function claimOf(
  remembered: Remembered,
  taskRef: string,
): Promise<RememberedClaim | undefined> {
  const number = /^TASK-0*(\d+)$/i.exec(taskRef)?.[1]
  return (await listClaims(remembered)).find(
    ({ taskId, taskPublicId }) =>
      taskId === taskRef.toLowerCase() ||
      (number !== undefined && /^TASK-0*(\d+)$/.exec(taskPublicId)?.[1] === number),
  )
}

export async function claimOfRun(
  remembered: Remembered,
  runId: string,
): Promise<RememberedClaim | undefined> {
  return (await listClaims(remembered)).find((claim) => claim.runId === runId.toLowerCase())
}

export async function rememberSession(
  { folder }: Remembered,
  session: RememberedSession,
): Promise<void> {
  await keep(folder, SESSION_FILE, session)
}

export async function recallSession({
  folder,
}: Remembered): Promise<RememberedSession | undefined> {
  return await recall(join(folder, SESSION_FILE), RememberedSession)
}

export async function forgetSession({ folder }: Remembered): Promise<void> {
  await rm(join(folder, SESSION_FILE), { force: true })
}

const SESSION_FILE = 'session.json'

function claimFile(taskId: string): string {
  return `claim-${taskId}.json`
}

async function keep(folder: string, name: string, value: object): Promise<void> {
  await writePrivate(join(folder, name), `${JSON.stringify(value, undefined, 2)}\n`)
  const ignore = join(folder, '..', '.gitignore')
  await writeFile(ignore, '*\n', { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
}

async function recall<S extends z.ZodType>(
  file: string,
  schema: S,
): Promise<z.output<S> | undefined> {
  const text = await readPrivate(file)
  if (text === undefined) return undefined
  try {
    return schema.parse(JSON.parse(text))
  } catch (cause) {
    throw new CliError(`Cannot read ${file}: it is not what this program wrote`, {
      hint: 'remove it; what it named is still held on the server until its lease ends',
      cause,
    })
  }
}
