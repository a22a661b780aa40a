import { createArtifact } from '#contract/artifacts.ts'
import { beginArtifactUpload, sendArtifactContent } from '#contract/artifact-uploads.ts'
import { sha256 } from '#lib/id.ts'
import type { Make } from './world.ts'

/** An artifact of a run, content on its way for the task, and content that is there. */
export async function makeArtifacts(
  make: Make,
  work: {
    marker: string
    workspaceId: string
    task: string
    run: string
    fence: { claimId: string; fencingToken: number }
  },
) {
  const { marker, workspaceId, task, run, fence } = work
  const artifact = await make(createArtifact, {
    body: { type: 'note', name: `note ${marker}`, content: marker, runId: run, ...fence },
  })
  const content = { sizeBytes: 1, sha256: sha256(marker) }
  const upload = await make(beginArtifactUpload, { body: { ...content, taskId: task, ...fence } })
  const sent = await make(sendArtifactContent, {
    query: { sizeBytes: '0', sha256: sha256(''), mediaType: `text/${marker}`, workspaceId },
  })
  return { artifact: artifact.id, upload: upload.id, sent: sent.id }
}
