import type { WorkspaceType } from '#contract/workspace-types.ts'
import type { Workspace, WorkspaceNode } from '#contract/workspaces.ts'
import type { WorkspaceTypeRow } from './workspace-type.ts'
import type { Tree, WorkspaceRow } from './workspace.ts'

/** Rows as the contract shows them. */
export function workspaceReply({ createdAt, ...row }: WorkspaceRow): Workspace {
  return { ...row, createdAt: createdAt.toISOString() }
}

export function workspaceTypeReply({
  createdAt,
  parentTypes,
  ...row
}: WorkspaceTypeRow): WorkspaceType {
  return {
    ...row,
    parentTypes: parentTypes && [...parentTypes],
    createdAt: createdAt.toISOString(),
  }
}

export function workspaceNodeReply(node: Tree<WorkspaceRow>): WorkspaceNode {
  const { children, ...row } = node
  return { ...workspaceReply(row), children: children.map(workspaceNodeReply) }
}
