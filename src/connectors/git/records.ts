export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type_changed'

export interface FileChange {
  readonly status: ChangeStatus
  readonly path: string
  /** The former path of a renamed or copied file. */
  readonly from?: string
  /** Percent of the content that a rename or a copy kept. */
  readonly similarity?: number
}

export interface Author {
  readonly name: string
  readonly email: string
}

export interface CommitRecord {
  readonly sha: string
  readonly parents: readonly string[]
  readonly author: Author
  /** Seconds since 1970, as the commit claims; undefined when no calendar holds it. */
  readonly authoredAt: number | undefined
  readonly committedAt: number | undefined
  readonly message: string
  /** Against the first parent; empty for a merge. */
  readonly changes: readonly FileChange[]
  /** Changes beyond the bound per commit: counted, not kept. */
  readonly changesOmitted: number
}

export type EntryType = 'file' | 'executable' | 'symlink' | 'submodule'

/** One live path of the commit that is published. */
export interface TreeEntry {
  readonly path: string
  readonly type: EntryType
  readonly blobSha: string
  /** Bytes; undefined for a submodule. */
  readonly size: number | undefined
}

export interface TagRecord {
  readonly name: string
  readonly annotated: boolean
  /** The commit the tag leads to; undefined for a tag on a tree or a blob. */
  readonly commit: string | undefined
  readonly taggedAt: number | undefined
  readonly message: string
}

export interface RepositoryRecord {
  /** Absolute folder that was asked for. */
  readonly path: string
  readonly bare: boolean
  readonly shallow: boolean
  /** Undefined while the repository has no commit. */
  readonly head: string | undefined
  readonly headCommittedAt: number | undefined
  /** Undefined when the head is detached. */
  readonly branch: string | undefined
  /** `host/owner/name` of where it was cloned from; undefined for a path on this machine. */
  readonly remote: string | undefined
}

/** Everything one run reads of a repository before it looks at documents. */
export interface RepositoryReading {
  readonly repository: RepositoryRecord
  /** Newest first, no parent before its child. */
  readonly commits: readonly CommitRecord[]
  /** False for a shallow clone and when the bound on commits cut the history. */
  readonly historyComplete: boolean
  readonly tree: readonly TreeEntry[]
  readonly tags: readonly TagRecord[]
  readonly warnings: readonly string[]
}

/** The oldest commit without a parent; undefined in an empty repository and in an incomplete history. */
export function firstCommit(reading: RepositoryReading): string | undefined {
  if (!reading.historyComplete) return undefined
  return reading.commits.findLast(({ parents }) => parents.length === 0)?.sha
}
