import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFolderStore } from '#blobs/folder-store.ts'
import { createArtifact, getArtifactContent } from '#contract/artifacts.ts'
import * as uploads from '#contract/artifact-uploads.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { testContent } from '../support/content.ts'
import { temporaryFolder } from '../support/embedded.ts'
import { announced, announcedText, someBytes } from '../support/upload.ts'
import { workClients } from '../support/work.ts'
import { ask } from './scene.ts'
import type { ErrorCase } from './scene.ts'

/** Large content on its way in, and out of its store. */
export const ofContent = {
  upload_incomplete: async ({ admin, make }) => {
    const { id } = await make(uploads.beginArtifactUpload, { body: announced(someBytes(10)) })
    return ask(admin, uploads.completeArtifactUpload, { params: { id } })
  },
  upload_not_open: async ({ admin, make }) => {
    const bytes = someBytes(10)
    const { id } = await make(uploads.beginArtifactUpload, { body: announced(bytes) })
    await make(uploads.abortArtifactUpload, { params: { id } })
    const part = { params: { id, number: '1' }, query: announcedText(bytes), bytes }
    return ask(admin, uploads.putUploadPart, part)
  },
  content_mismatch: ({ admin }) =>
    ask(admin, uploads.sendArtifactContent, {
      query: announcedText(someBytes(10)),
      bytes: someBytes(10),
    }),
  content_damaged: async ({ admin, db, tenant, make }) => {
    const bytes = someBytes(10)
    const sent = await make(uploads.sendArtifactContent, { query: announcedText(bytes), bytes })
    const body = { type: 'log', name: 'build.log', contentRef: sent.id }
    const { id } = await make(createArtifact, { body })
    await db`
      update blobs
      set object_key = object_key || 'lost'
      where tenant_id = ${tenant.ctx.tenantId}`
    return ask(admin, getArtifactContent, { params: { id } })
  },
  content_unavailable: async ({ t, db, tenant }) => {
    const folder = await temporaryFolder(t)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, 'drafts'), 'no folder')
    const content = testContent({ store: createFolderStore(folder) })
    const client = workClients(db, content).clientOf(tenant.key)
    const bytes = someBytes(10)
    return ask(client, uploads.sendArtifactContent, { query: announcedText(bytes), bytes })
  },
} satisfies Partial<Record<ErrorCode, ErrorCase>>
