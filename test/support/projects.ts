import { randomUUID } from 'node:crypto'
import type { ProjectConfig } from '#contract/project-config.ts'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { createWorkspace } from '#org/create-workspace.ts'
import { moveWorkspace } from '#org/move-workspace.ts'
import { activateRevision } from '#projects/activate-revision.ts'
import { checkMovedGovernance } from '#projects/check-governance.ts'
import { createProject } from '#projects/create-project.ts'
import type { NewProject } from '#projects/create-project.ts'
import { createRevision } from '#projects/create-revision.ts'
import { selectProject } from '#projects/project.sql.ts'
import type { ProjectRow } from '#projects/project.sql.ts'

export interface Place {
  workspaceId: string
  project: ProjectRow
}

/** What a test does with projects, as one caller, each in a transaction of its own. */
export function projectsOf(db: Database, ctx: Ctx) {
  const addWorkspace = async (parentId: string | null = null) => {
    const slug = `w-${randomUUID()}`
    const { id } = await transaction(db, 'read write', (sql) =>
      createWorkspace(sql, ctx, { slug, name: slug, parentId }),
    )
    return id
  }
  const add = (input: NewProject) =>
    transaction(db, 'read write', (sql) => createProject(sql, ctx, input))
  const find = async (id: string) => {
    const project = await selectProject(db, ctx, id)
    if (!project) throw new Error(`no project ${id}`)
    return project
  }
  const activate = async (id: string, revision: number) => {
    const { version: expectedVersion } = await find(id)
    return await transaction(db, 'read write', (sql) =>
      activateRevision(sql, ctx, { id, revision, expectedVersion }),
    )
  }
  const write = (id: string, config: ProjectConfig) =>
    transaction(db, 'read write', (sql) => createRevision(sql, ctx, { id, config }))
  return {
    addWorkspace,
    add,
    find,
    write,
    activate,
    /** A workspace that is a project. */
    place: async (
      parentId: string | null = null,
      input: Omit<NewProject, 'workspaceId'> = {},
    ): Promise<Place> => {
      const workspaceId = await addWorkspace(parentId)
      return { workspaceId, project: await add({ ...input, workspaceId }) }
    },
    /** Writes a configuration and puts it in force. */
    configure: async (id: string, config: ProjectConfig) =>
      activate(id, (await write(id, config)).revision),
    move: (id: string, parentId: string | null) =>
      transaction(db, 'read write', (sql) =>
        moveWorkspace(sql, ctx, { id, parentId }, checkMovedGovernance),
      ),
  }
}
