import { knownEntities } from '../target.ts'
import type { Target } from '../target.ts'
import { GitError } from './git.ts'
import { repositoryRef } from './names.ts'
import { firstCommit } from './records.ts'
import type { RepositoryReading } from './records.ts'

/** Documents in memory: path -> sha of the blob that was stored. */
export type StoredDocuments = ReadonlyMap<string, string>

/** What memory has as documents of this repository, by the file entities published after them. */
export async function readStoredDocuments(target: Target, repo: string): Promise<StoredDocuments> {
  const stored = new Map<string, string>()
  for await (const { attributes } of knownEntities(target, 'file', { repo, document: true })) {
    const { path, blobSha } = attributes
    if (typeof path === 'string' && typeof blobSha === 'string') stored.set(path, blobSha)
  }
  return stored
}

/** The commits of this repository that memory has, by sha. */
export async function readKnownCommits(target: Target, repo: string): Promise<Set<string>> {
  const known = new Set<string>()
  for await (const { attributes } of knownEntities(target, 'commit', { repo })) {
    const { sha } = attributes
    if (typeof sha === 'string') known.add(sha)
  }
  return known
}

/**
 * Two repositories under one name would take turns at closing each other's knowledge. A repository is
 * known by its first commit, which an incomplete history does not tell.
 */
export async function refuseStranger(
  target: Target,
  repo: string,
  reading: RepositoryReading,
): Promise<void> {
  if (!reading.historyComplete) return
  const { key } = repositoryRef(repo)
  for await (const known of knownEntities(target, 'repository', { name: repo })) {
    const published = known.attributes['firstCommit']
    if (known.key !== key || typeof published !== 'string') continue
    if (published === firstCommit(reading)) return
    throw new GitError(
      'another_repository',
      `Cannot publish as "${repo}": another repository has that name; give --name, or --replace to take it over`,
    )
  }
}
