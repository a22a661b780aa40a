import { getWorkspaceTree } from '#contract/workspaces.ts'
import type { WorkspaceNode } from '#contract/workspaces.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** What `--workspace` may be, for help texts. */
export const WORKSPACE_OPTION = {
  value: 'workspace',
  summary: 'Id, slug or path of slugs such as shop/api; "none" ignores the one of this repository',
} as const

/** The workspace of a command: the option, else the one this repository belongs to, else none. */
export async function chosenWorkspace(
  cli: Cli,
  option: string | undefined,
): Promise<string | undefined> {
  if (option === 'none') return undefined
  const ref = option ?? cli.project?.config.workspace
  return ref === undefined ? undefined : await resolveWorkspace(cli, ref)
}

/**
 * The id of a workspace named by its id, by slugs from the top, or by its slug alone where only one has
 * it. Throws `CliError` when none or several fit. An id is not asked about.
 */
export async function resolveWorkspace(cli: Cli, ref: string): Promise<string> {
  if (UUID.test(ref)) return ref.toLowerCase()
  const { items } = await cli.call(getWorkspaceTree, { query: {} })
  const all = items.flatMap((node) => withPaths(node, ''))
  const byPath = all.filter(({ path }) => path === ref)
  const found = byPath.length > 0 ? byPath : all.filter(({ node }) => node.slug === ref)
  const [first, ...others] = found
  if (first && others.length === 0) return first.node.id
  if (!first) {
    throw new CliError(`Cannot find workspace "${ref}"`, {
      hint: '"control-plane workspace tree" shows those there are',
    })
  }
  throw new CliError(`Cannot tell which workspace "${ref}" is`, {
    hint: `say one of ${found.map(({ path }) => path).join(', ')}`,
  })
}

function withPaths(node: WorkspaceNode, above: string): { node: WorkspaceNode; path: string }[] {
  const path = above === '' ? node.slug : `${above}/${node.slug}`
  return [{ node, path }, ...node.children.flatMap((child) => withPaths(child, path))]
}
