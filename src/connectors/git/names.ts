import { boundedKey, hashText } from '../snapshot.ts'
import type { EntityRef } from '../snapshot.ts'
import { cutText } from '../text.ts'
import type { Author } from './records.ts'

const MAX_REPOSITORY_NAME = 100

/**
 * `owner/name` from where a repository was cloned, else the name of its folder. The name stands in every
 * key, so it is the same for every clone of one remote.
 */
export function repositoryName(path: string, remote: string | undefined): string {
  const parts = (remote ?? path).split(/[/\\]+/).filter((part) => part !== '' && part !== '.')
  if (parts.at(-1) === '.git') parts.pop()
  const name = remote === undefined ? parts.slice(-1) : parts.slice(1).slice(-2)
  return cleanRepositoryName(name.join('/').replace(/\.git$/, ''))
}

/** Letters, digits, `.`, `_`, `-` and `/`; anything else becomes `-`. */
export function cleanRepositoryName(name: string): string {
  const parts = name
    .split('/')
    .map((part) => part.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^-+|-+$/g, ''))
    .filter((part) => /[^.]/.test(part))
  return cutText(parts.join('/') || 'repository', MAX_REPOSITORY_NAME)
}

export function repositoryRef(repo: string): EntityRef {
  return { kind: 'repository', key: `repository:${repo}` }
}

export function branchRef(repo: string, name: string): EntityRef {
  return { kind: 'branch', key: boundedKey(`branch:${repo}@${name}`) }
}

export function commitRef(repo: string, sha: string): EntityRef {
  return { kind: 'commit', key: `commit:${repo}@${sha}` }
}

export function tagRef(repo: string, name: string): EntityRef {
  return { kind: 'tag', key: boundedKey(`tag:${repo}@${name}`) }
}

export function fileRef(repo: string, path: string): EntityRef {
  return { kind: 'file', key: boundedKey(`file:${repo}:${path}`) }
}

/** What a file is also called: its path, unless that is blank. */
export function pathAliases(path: string): string[] {
  return path.trim() === '' ? [] : [boundedKey(path)]
}

export function documentRef(repo: string, path: string): EntityRef {
  return { kind: 'document', key: boundedKey(`doc:${repo}:${path}`) }
}

/** The same person in every repository: by the hash of the address, or of the name where there is none. */
export function personRef(author: Author): EntityRef {
  const email = author.email.trim().toLowerCase()
  const identity = email === '' ? `name:${author.name.trim().toLowerCase()}` : email
  return { kind: 'person', key: `person:${hashText(identity).slice(0, 16)}` }
}
