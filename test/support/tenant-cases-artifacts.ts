import { sha256 } from '#lib/id.ts'
import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** Content of no bytes. */
const nothing = { sizeBytes: 0, sha256: sha256('') }
const nothingText = { ...nothing, sizeBytes: '0' }

/** Artifacts and uploads of their content. */
export const ARTIFACT_CASES: Readonly<Record<string, Case>> = {
  createArtifact: (a, b) => [
    foreign({ body: { type: 'note', name: 'other', contentRef: a.sent } }),
    own({ body: { type: 'note', name: 'other' } }),
    ...[
      { taskId: a.task },
      { runId: a.run, fencingToken: 1 },
      { workspaceId: a.workspace },
      { supersedesArtifactId: a.artifact },
    ].map((place) => foreign({ body: { type: 'note', name: 'other', ...place } })),
    foreign({ body: { type: 'note', name: 'other', taskId: b.task, ...a.fence } }),
  ],
  listArtifacts: (a) => [
    look(),
    foreign({ query: { taskId: a.task } }),
    foreign({ query: { runId: a.run } }),
    foreign({ query: { workspaceId: a.workspace } }),
  ],
  getArtifact: (a) => [foreign({ params: { id: a.artifact } })],
  getArtifactContent: (a) => [foreign({ params: { id: a.artifact } })],
  beginArtifactUpload: (a, b) => [
    own({ body: nothing }),
    ...[
      { taskId: a.task },
      { runId: a.run, fencingToken: 1 },
      { workspaceId: a.workspace },
      { taskId: b.task, ...a.fence },
    ].map((place) => foreign({ body: { ...nothing, ...place } })),
  ],
  sendArtifactContent: (a, b) => [
    own({ query: nothingText }),
    ...[
      { taskId: a.task },
      { runId: a.run, fencingToken: '1' },
      { workspaceId: a.workspace },
      { taskId: b.task, claimId: a.claim, fencingToken: '1' },
    ].map((place) => foreign({ query: { ...nothingText, ...place } })),
  ],
  getArtifactUpload: (a) => [foreign({ params: { id: a.upload } })],
  putUploadPart: (a) => [
    foreign({ params: { id: a.upload, number: '1' }, query: { ...nothingText, sizeBytes: '1' } }),
  ],
  completeArtifactUpload: (a, b) => [
    foreign({ params: { id: a.upload }, body: b.fence }),
    foreign({ params: { id: b.upload }, body: a.fence }),
    foreign({ params: { id: b.upload }, body: { runId: a.run, fencingToken: 1 } }),
  ],
  abortArtifactUpload: (a) => [foreign({ params: { id: a.upload } })],
}
