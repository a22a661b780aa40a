import type { SnapshotRelation, Unit } from '../snapshot.ts'
import { cutText, oneLine } from '../text.ts'
import { commitRef, fileRef, pathAliases, personRef } from './names.ts'
import type { Author, CommitRecord, FileChange } from './records.ts'
import { MAX_MESSAGE, MAX_TITLE, shown, time } from './wording.ts'
import type { UnitOptions } from './wording.ts'

export function commitUnit(options: UnitOptions, commit: CommitRecord): Unit {
  const { repo } = options
  const ref = commitRef(repo, commit.sha)
  const message = shown(options, commit.message)
  const [subject = '', ...rest] = message.trim().split('\n')
  const body = cutText(rest.join('\n').trim(), MAX_MESSAGE)
  const title = oneLine(subject, MAX_TITLE)
  return {
    entity: {
      ...ref,
      title: [subjectOf(commit, title), ...signature(options, commit)].join(' — '),
      attributes: {
        repo,
        sha: commit.sha,
        ...(body === '' ? {} : { message: body }),
        ...time('authoredAt', commit.authoredAt),
        ...time('committedAt', commit.committedAt),
        merge: commit.parents.length > 1,
        filesChanged: commit.changes.length + commit.changesOmitted,
      },
      aliases: [commit.sha],
      provenance: { repo, sha: commit.sha },
      source_path: `${repo}@${commit.sha.slice(0, 12)}`,
    },
    relations: [
      ...authorRelations(commit, repo),
      ...commit.parents.map((parent) => ({
        relation: 'parent_of',
        from: commitRef(repo, parent),
        to: ref,
      })),
      ...commit.changes.flatMap((change) => changeRelations(repo, commit.sha, change)),
    ],
    at: commit.committedAt,
  }
}

function subjectOf({ sha }: CommitRecord, subject: string): string {
  return subject === '' ? `(no message) ${sha.slice(0, 10)}` : subject
}

/** Who and when: a title is often all that a reader sees of a commit. */
function signature(options: UnitOptions, { author, committedAt }: CommitRecord): string[] {
  const name = oneLine(shown(options, author.name), MAX_TITLE)
  const day = time('day', committedAt)['day']?.slice(0, 10)
  const parts = [name, day].filter((part) => part !== undefined && part !== '')
  return parts.length === 0 ? [] : [parts.join(', ')]
}

function authorRelations(commit: CommitRecord, repo: string): SnapshotRelation[] {
  const from = commitRef(repo, commit.sha)
  const author = personRef(commit.author)
  const others = coAuthors(commit.message)
    .map(personRef)
    .filter(({ key }) => key !== author.key)
  return [
    { relation: 'authored_by', from, to: author },
    ...others.map((to) => ({
      relation: 'authored_by',
      from,
      to,
      attributes: { role: 'co-author' },
    })),
  ]
}

function changeRelations(repo: string, sha: string, change: FileChange): SnapshotRelation[] {
  const to = fileRef(repo, change.path)
  const changed: SnapshotRelation = {
    relation: 'changed',
    from: commitRef(repo, sha),
    to,
    attributes: { change: change.status },
  }
  if (change.from === undefined) return [changed]
  const relation = change.status === 'copied' ? 'copied_from' : 'renamed_from'
  return [
    changed,
    {
      relation,
      from: to,
      to: fileRef(repo, change.from),
      attributes: {
        commit: sha,
        ...(change.similarity === undefined ? {} : { similarity: change.similarity }),
      },
    },
  ]
}

/** The authors named by `Co-authored-by:` lines of a message. */
export function coAuthors(message: string): Author[] {
  return message.split('\n').flatMap((line) => {
    const match = /^co-authored-by:\s*([^<>]{1,200}?)\s*<([^<>]{1,200})>\s*$/i.exec(line)
    return match ? [{ name: match[1] ?? '', email: match[2] ?? '' }] : []
  })
}

/** One unit per person, since the oldest commit; the name is the one used last. `commits` are newest first. */
export function personUnits(options: UnitOptions, commits: readonly CommitRecord[]): Unit[] {
  const people = new Map<string, Author>()
  for (const commit of commits) {
    for (const author of [commit.author, ...coAuthors(commit.message)]) {
      const { key } = personRef(author)
      if (!people.has(key)) people.set(key, author)
    }
  }
  return [...people.values()].map((author) => {
    const ref = personRef(author)
    const name = oneLine(shown(options, author.name), MAX_TITLE)
    return {
      entity: {
        ...ref,
        title: name === '' ? ref.key : name,
        attributes: {
          name,
          ...(options.withEmails ? { email: cutText(author.email.trim(), 320) } : {}),
        },
      },
      relations: [],
      at: commits.at(-1)?.committedAt,
    }
  })
}

/** The paths that the history names and the head no longer has, with what became of them. */
export function pastFileUnits(
  options: UnitOptions,
  commits: readonly CommitRecord[],
  live: ReadonlySet<string>,
): Unit[] {
  const units = new Map<string, Unit>()
  for (const commit of commits) {
    for (const change of commit.changes) {
      if (change.status === 'renamed' && change.from !== undefined && !live.has(change.from)) {
        if (!units.has(change.from)) units.set(change.from, pastFile(options, commit, change))
      }
      if (live.has(change.path) || units.has(change.path)) continue
      units.set(change.path, pastFile(options, commit, { ...change, from: change.path }))
    }
  }
  return [...units.values()]
}

function pastFile(options: UnitOptions, commit: CommitRecord, change: FileChange): Unit {
  const { repo } = options
  const path = change.from ?? change.path
  const renamed = path !== change.path
  return {
    entity: {
      ...fileRef(repo, path),
      title: oneLine(`${path} (${renamed ? `renamed to ${change.path}` : 'deleted'})`, 500),
      attributes: {
        repo,
        path: cutText(path, 4096),
        status: renamed ? 'renamed' : 'deleted',
        lastCommit: commit.sha,
        ...time('lastChangedAt', commit.committedAt),
        ...(renamed ? { renamedTo: cutText(change.path, 4096) } : {}),
      },
      aliases: pathAliases(path),
      provenance: { repo, sha: commit.sha, path: cutText(path, 1000) },
      source_path: `${repo}@${commit.sha.slice(0, 12)}`,
    },
    relations: [],
    at: commit.committedAt,
  }
}
