import type { SnapshotRelation, Unit } from '../snapshot.ts'
import { cutText, oneLine } from '../text.ts'
import {
  branchRef,
  documentRef,
  pathAliases,
  commitRef,
  fileRef,
  repositoryRef,
  tagRef,
} from './names.ts'
import { firstCommit } from './records.ts'
import type { RepositoryReading, RepositoryRecord, TagRecord, TreeEntry } from './records.ts'
import { MAX_MESSAGE, MAX_TITLE, shown, time } from './wording.ts'
import type { UnitOptions } from './wording.ts'

/** Holds since the oldest commit that is known. */
export function repositoryUnit(options: UnitOptions, reading: RepositoryReading): Unit {
  const { remote } = reading.repository
  const first = firstCommit(reading)
  const { repo } = options
  return {
    entity: {
      ...repositoryRef(repo),
      title: repo,
      attributes: {
        name: repo,
        ...(remote === undefined ? {} : { remote: cutText(remote, 500) }),
        ...(first === undefined ? {} : { firstCommit: first }),
      },
      provenance: { repo },
      source_path: repo,
    },
    relations: [],
    at: reading.commits.at(-1)?.committedAt,
  }
}

/** Where the published head stands; the one unit that changes with every commit. */
export function branchUnit(options: UnitOptions, repository: RepositoryRecord): Unit {
  const { repo } = options
  const name = oneLine(repository.branch ?? 'HEAD', MAX_TITLE)
  const ref = branchRef(repo, name)
  const { head } = repository
  const relations: SnapshotRelation[] = [
    { relation: 'part_of', from: ref, to: repositoryRef(repo) },
    ...(head === undefined
      ? []
      : [{ relation: 'points_to', from: ref, to: commitRef(repo, head) }]),
  ]
  return {
    entity: {
      ...ref,
      title: `${repo} ${name}`,
      attributes: {
        repo,
        name,
        detached: repository.branch === undefined,
        ...(head === undefined ? {} : { head }),
        ...time('committedAt', repository.headCommittedAt),
      },
      provenance: { repo, ...(head === undefined ? {} : { sha: head }) },
      source_path: `${repo}@${name}`,
    },
    relations,
    at: repository.headCommittedAt,
  }
}

export function fileUnit(options: UnitOptions, entry: TreeEntry, isDocument: boolean): Unit {
  const { repo } = options
  const ref = fileRef(repo, entry.path)
  return {
    entity: {
      ...ref,
      title: oneLine(entry.path, 500) || ref.key,
      attributes: {
        repo,
        path: cutText(entry.path, 4096),
        status: 'live',
        type: entry.type,
        blobSha: entry.blobSha,
        ...(entry.size === undefined ? {} : { size: entry.size }),
        ...(isDocument ? { document: true } : {}),
      },
      aliases: pathAliases(entry.path),
      provenance: { repo, sha: entry.blobSha, path: cutText(entry.path, 1000) },
      source_path: cutText(`${repo}/${entry.path}`, 2000),
    },
    relations: [
      { relation: 'part_of', from: ref, to: repositoryRef(repo) },
      ...(isDocument
        ? [{ relation: 'text_of', from: documentRef(repo, entry.path), to: ref }]
        : []),
    ],
    at: undefined,
  }
}

export function tagUnit(options: UnitOptions, tag: TagRecord, isPublished: boolean): Unit {
  const { repo } = options
  const ref = tagRef(repo, tag.name)
  const message = shown(options, tag.message)
  return {
    entity: {
      ...ref,
      title: oneLine(`${repo} ${tag.name}`, MAX_TITLE),
      attributes: {
        repo,
        name: cutText(tag.name, 1000),
        annotated: tag.annotated,
        ...(tag.commit === undefined ? {} : { commit: tag.commit }),
        ...(message === '' ? {} : { message: cutText(message, MAX_MESSAGE) }),
        ...time('taggedAt', tag.taggedAt),
      },
      provenance: { repo, ...(tag.commit === undefined ? {} : { sha: tag.commit }) },
      source_path: cutText(`${repo}@${tag.name}`, 2000),
    },
    relations:
      tag.commit !== undefined && isPublished
        ? [{ relation: 'tagged', from: ref, to: commitRef(repo, tag.commit) }]
        : [],
    at: tag.taggedAt,
  }
}
