import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { issuePhrase } from '#lib/issue-phrase.ts'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'
import { isMissing } from './private-file.ts'

/** The folder of our files in a repository. */
export const PROJECT_FOLDER = '.control-plane'

/** What a repository says about its control plane; committed with it, so it holds no secret. */
export const ProjectConfig = z.strictObject({
  server: z.string().optional(),
  /** Id or path of the workspace that commands use unless told otherwise. */
  workspace: z.string().min(1).max(300).optional(),
  project: z.string().min(1).max(300).optional(),
  repository: z.string().min(1).max(300).optional(),
  tenant: z.string().min(1).max(300).optional(),
})
export type ProjectConfig = z.infer<typeof ProjectConfig>

export interface Project {
  /** The `.control-plane` folder itself. */
  readonly folder: string
  readonly file: string
  readonly config: ProjectConfig
}

/** The nearest `.control-plane/config.json`; see {@link searchedFolders} for where it is looked for. */
export async function findProject(cwd: string, home: string): Promise<Project | undefined> {
  for (const folder of await searchedFolders(cwd, home)) {
    const file = join(folder, PROJECT_FOLDER, 'config.json')
    const text = await readFile(file, 'utf8').catch((error: unknown) => {
      if (isMissing(error)) return undefined
      throw new CliError(`Cannot read ${file}: ${reason(error)}`, { cause: error })
    })
    if (text !== undefined) {
      return { folder: dirname(file), file, config: parseConfig(file, text) }
    }
  }
  return undefined
}

/**
 * This folder and those above it, up to the root of the repository or the home folder, whichever comes
 * first; outside of both, this folder alone. A file above (in /tmp, say) is anybody's, and it would
 * choose where credentials go.
 */
export async function searchedFolders(cwd: string, home: string): Promise<string[]> {
  const folders = [await realpath(cwd)]
  for (let at = folders[0] ?? cwd; dirname(at) !== at; at = dirname(at)) folders.push(dirname(at))
  const ends = [
    folders.findIndex(isRepositoryRoot),
    folders.indexOf(await realpath(home).catch(() => home)),
  ].filter((at) => at >= 0)
  return folders.slice(0, ends.length === 0 ? 1 : Math.min(...ends) + 1)
}

/** The root of the repository that a folder is in; undefined outside of any. */
export async function repositoryRoot(cwd: string, home: string): Promise<string | undefined> {
  return (await searchedFolders(cwd, home)).find(isRepositoryRoot)
}

export async function writeProject(root: string, config: ProjectConfig): Promise<string> {
  const file = join(root, PROJECT_FOLDER, 'config.json')
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, `${JSON.stringify(config, undefined, 2)}\n`)
  } catch (error) {
    throw new CliError(`Cannot write ${file}: ${reason(error)}`, { cause: error })
  }
  return file
}

/** `.git` is a folder in a clone and a file in a worktree. */
function isRepositoryRoot(folder: string): boolean {
  return existsSync(join(folder, '.git'))
}

function parseConfig(file: string, text: string): ProjectConfig {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new CliError(`Cannot read ${file}: it is not JSON`, { cause })
  }
  const result = ProjectConfig.safeParse(value, { error: issuePhrase })
  if (result.success) return result.data
  const [issue] = result.error.issues
  const place = issue?.path.length ? `${issue.path.join('.')} ` : 'it '
  throw new CliError(`Cannot read ${file}: ${place}${issue?.message}`, { cause: result.error })
}
