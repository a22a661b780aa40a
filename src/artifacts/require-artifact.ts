import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { schemaErrors } from '#lib/schema-errors.ts'
import { selectTaskType } from '#task-types/task-type.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'
import type { ArtifactRow } from './artifact.sql.ts'

type Described = Pick<ArtifactRow, 'type' | 'name' | 'uri' | 'mediaType' | 'sizeBytes' | 'metadata'>

/**
 * Throws `invalid_artifact`, with the places and without the values, unless an artifact of a task is what
 * the `artifactSchema` of the task's type says. What an artifact does not have is absent for the schema.
 */
export async function requireArtifact(
  sql: Sql,
  ctx: Tenancy,
  { task, artifact }: { task: TaskRow; artifact: Described },
  compile: CompileSchema,
): Promise<void> {
  const { typeKey, typeVersion } = task
  const type = await selectTaskType(sql, ctx, { key: typeKey, version: typeVersion })
  if (!type?.artifactSchema) return
  const { name, uri, mediaType, sizeBytes, metadata } = artifact
  const all = { type: artifact.type, name, uri, mediaType, sizeBytes, metadata }
  const value = Object.fromEntries(Object.entries(all).filter(([, part]) => part !== null))
  const errors = schemaErrors(type.artifactSchema, value, ['body'], compile)
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_artifact',
    `Cannot take the artifact: ${first.loc} ${first.message}`,
    { details: { typeKey, typeVersion, errors } },
  )
}
