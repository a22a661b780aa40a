import type { Hono } from 'hono'
import * as artifacts from '#contract/artifacts.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { createSchemaCache } from '#lib/json-schema.ts'
import { selectRun } from '#runs/run.sql.ts'
import { workspacesOf } from '#org/workspaces-of.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { selectArtifact, selectArtifacts } from './artifact.sql.ts'
import { createArtifact } from './create-artifact.ts'
import { readContent } from './read-content.ts'
import { artifactReply } from './replies.ts'

/** How many different schemas of artifacts are kept ready. */
const MAX_SCHEMAS = 200

/** Artifacts and their content. */
export function artifactsRoutes(app: Hono, deps: Deps): void {
  const compile = createSchemaCache(MAX_SCHEMAS)
  bind(app, deps, artifacts.createArtifact, async (sql, ctx, { body }) =>
    artifactReply(await createArtifact(sql, ctx, body, compile)),
  )
  bind(app, deps, artifacts.listArtifacts, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, taskId: ref, ...narrowing } = query
    const taskId = ref && found(await selectTaskId(sql, ctx, ref), 'task', ref)
    if (query.runId) found(await selectRun(sql, ctx, query.runId), 'run', query.runId)
    await workspacesOf(sql, ctx, query)
    const filter = { ...narrowing, taskId }
    const page = pageRequest(`artifacts?${JSON.stringify(filter)}`, query)
    return pageOf(page, await selectArtifacts(sql, ctx, { ...filter, page }), artifactReply)
  })
  bind(app, deps, artifacts.getArtifact, async (sql, ctx, { params: { id } }) =>
    artifactReply(found(await selectArtifact(sql, ctx, id), 'artifact', id)),
  )
  bind(app, deps, artifacts.getArtifactContent, async (sql, ctx, { params }) =>
    readContent(sql, ctx, params.id),
  )
}
