import { deleteDocument, storeDocument } from '#contract/knowledge.ts'
import { AppError } from '#lib/errors.ts'
import { callPatiently } from '../target.ts'
import type { Target } from '../target.ts'
import { readBlobs } from './blobs.ts'
import { documentText, documentTitle } from './documents.ts'
import type { Git } from './git.ts'
import { documentRef } from './names.ts'
import type { StoredDocuments } from './recorded.ts'
import type { TreeEntry } from './records.ts'

export interface DocumentPlan {
  readonly store: readonly TreeEntry[]
  /** Paths whose documents are gone. */
  readonly remove: readonly string[]
  readonly unchanged: readonly TreeEntry[]
}

export function planDocuments(
  documents: readonly TreeEntry[],
  stored: StoredDocuments,
): DocumentPlan {
  const current = new Set(documents.map(({ path }) => path))
  const isStored = ({ path, blobSha }: TreeEntry): boolean => stored.get(path) === blobSha
  return {
    store: documents.filter((entry) => !isStored(entry)),
    remove: [...stored.keys()].filter((path) => !current.has(path)),
    unchanged: documents.filter(isStored),
  }
}

export interface DocumentsOutcome {
  /** Paths that are in memory now, unchanged ones included. */
  readonly stored: ReadonlySet<string>
  readonly warnings: readonly string[]
}

/**
 * Removes and stores documents, each call safe to repeat. They travel before the file entities that
 * claim them: a run that dies in between sends them again, and nothing is claimed that did not arrive.
 * A document that is refused or is no text is left out with a warning.
 */
export async function publishDocuments(
  target: Target,
  source: { git: Git; repo: string; changedAt: ReadonlyMap<string, number> },
  plan: DocumentPlan,
  onDocument: () => void,
): Promise<DocumentsOutcome> {
  const { git, repo } = source
  const stored = new Set(plan.unchanged.map(({ path }) => path))
  const warnings: string[] = []
  const { workspaceId } = target
  for (const path of plan.remove) {
    await callPatiently(target, deleteDocument, {
      body: { workspaceId, key: documentRef(repo, path).key },
    })
    onDocument()
  }
  const blobs = readBlobs(
    git,
    plan.store.map(({ blobSha }) => blobSha),
  )
  for (const entry of plan.store) {
    const { value: bytes } = await blobs.next()
    const content = bytes && documentText(bytes)
    const problem =
      content === undefined
        ? 'is no text'
        : await store(target, { repo, entry, content, at: source.changedAt.get(entry.path) })
    if (problem === undefined) stored.add(entry.path)
    else warnings.push(`Document ${entry.path} ${problem} and is left out`)
    onDocument()
  }
  await blobs.return(undefined)
  return { stored, warnings }
}

interface DocumentToStore {
  repo: string
  entry: TreeEntry
  content: string
  /** Seconds since 1970 from which the text holds. */
  at: number | undefined
}

/** Returns why the document was refused, or undefined. */
async function store(target: Target, document: DocumentToStore): Promise<string | undefined> {
  const { repo, entry, content, at } = document
  try {
    await callPatiently(target, storeDocument, {
      body: {
        workspaceId: target.workspaceId,
        key: documentRef(repo, entry.path).key,
        title: documentTitle(entry.path, content),
        content,
        sourcePath: `${repo}/${entry.path}`.slice(0, 2048).toWellFormed(),
        ...(at === undefined ? {} : { validFrom: new Date(at * 1000).toISOString() }),
        meta: { repo, path: entry.path, blobSha: entry.blobSha },
      },
    })
    return undefined
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Memory has a later version, as after a return to an older branch: this text holds from now on.
    if (error.code === 'version_conflict' && at !== undefined) {
      return await store(target, { ...document, at: undefined })
    }
    if (!REFUSALS.has(error.code)) throw error
    return `is refused (${error.code})`
  }
}

const REFUSALS = new Set(['document_invalid', 'secret_refused', 'invalid_request'])
