import {
  assignCapability,
  assignRole,
  createCapability,
  createRole,
  listCapabilities,
  listPrincipalAssignments,
  listRoles,
  revokeCapability,
  revokeRole,
} from '#contract/roles.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, required } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import type { Page } from './pages.ts'
import { principalId } from './principal-commands.ts'
import { resolveWorkspace } from './resolve-workspace.ts'
import { isUuid } from '#lib/id.ts'

const createOne = command({
  name: 'role create',
  args: '<slug>',
  summary: 'Add a role to the tenant or to a workspace',
  options: {
    name: { value: 'name', summary: 'What people call it (the slug)' },
    description: { value: 'text', summary: 'What it means' },
    workspace: { value: 'workspace', summary: 'Known only there and below' },
  },
  async run(cli, { positionals: [slug = ''], values: { name = slug, description, workspace } }) {
    const workspaceId = workspace === undefined ? null : await resolveWorkspace(cli, workspace)
    const role = await cli.call(createRole, {
      body: { slug, name, workspaceId, ...given({ description }) },
    })
    cli.screen.result(role, () => cli.screen.line(`Created role ${role.slug} ${role.id}`))
  },
})

const listThem = command({
  name: 'role list',
  summary: 'List roles, newest first',
  options: {
    workspace: { value: 'workspace', summary: 'Only those that are known there' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values: { workspace, limit, cursor } }) {
    const workspaceId = workspace === undefined ? undefined : await resolveWorkspace(cli, workspace)
    const page = await cli.call(listRoles, { query: given({ workspaceId, limit, cursor }) })
    showPage(cli.screen, page, {
      headings: ['ROLE', 'SLUG', 'WORKSPACE', 'NAME'],
      row: (role) => [role.id, role.slug, role.workspaceId ?? '-', role.name],
      none: 'no roles',
    })
  },
})

const createCapable = command({
  name: 'capability create',
  args: '<name>',
  summary: 'Add a capability that work can ask for',
  options: { description: { value: 'text', summary: 'What it means' } },
  async run({ call, screen }, { positionals: [name = ''], values: { description } }) {
    const capability = await call(createCapability, { body: { name, ...given({ description }) } })
    screen.result(capability, () => screen.line(`Created capability ${name} ${capability.id}`))
  },
})

const listCapable = command({
  name: 'capability list',
  summary: 'List capabilities, newest first',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { values: { limit, cursor } }) {
    const page = await call(listCapabilities, { query: given({ limit, cursor }) })
    showPage(screen, page, {
      headings: ['CAPABILITY', 'NAME', 'DESCRIPTION'],
      row: (one) => [one.id, one.name, one.description],
      none: 'no capabilities',
    })
  },
})

const GRANT_ROUTES = {
  role: { assign: assignRole, revoke: revokeRole },
  capability: { assign: assignCapability, revoke: revokeCapability },
} as const
type Granted = keyof typeof GRANT_ROUTES

const grantCommands = (['role', 'capability'] as const).flatMap((kind) => [
  command({
    name: `${kind} assign`,
    args: `<${kind}>`,
    summary: `Give a ${kind} to a principal, everywhere or in a workspace`,
    options: {
      to: { value: 'principal', summary: 'Id of who gets it' },
      workspace: { value: 'workspace', summary: 'Only there and below; everywhere when absent' },
    },
    async run(cli, { positionals: [ref = ''], values: { to, workspace } }) {
      const who = principalId(required(to, '--to'), '--to')
      const input = await grantOf(cli, kind, ref, { who, ...given({ workspace }) })
      const assignment = await cli.call(GRANT_ROUTES[kind].assign, input)
      cli.screen.result(assignment, () => cli.screen.line(`Assigned ${ref} to ${who}`))
    },
  }),
  command({
    name: `${kind} revoke`,
    args: `<${kind}>`,
    summary: `Take a ${kind} from a principal where it was given`,
    options: {
      from: { value: 'principal', summary: 'Id of who loses it' },
      workspace: { value: 'workspace', summary: 'Where it was given; everywhere when absent' },
    },
    async run(cli, { positionals: [ref = ''], values: { from, workspace } }) {
      const who = principalId(required(from, '--from'), '--from')
      const input = await grantOf(cli, kind, ref, { who, ...given({ workspace }) })
      const answer = await cli.call(GRANT_ROUTES[kind].revoke, input)
      cli.screen.result(answer, () => {
        cli.screen.line(answer.revoked ? `Revoked ${ref}` : `${ref} was not given there`)
      })
    },
  }),
])

async function grantOf(
  cli: Cli,
  kind: Granted,
  ref: string,
  { who, workspace }: { who: string; workspace?: string },
) {
  const workspaceId = workspace === undefined ? null : await resolveWorkspace(cli, workspace)
  return { params: { id: await idOf(cli, kind, ref) }, body: { principalId: who, workspaceId } }
}

/** The id of what is named by its id, slug or name. Throws `CliError` when none or several fit. */
async function idOf(cli: Cli, kind: Granted, ref: string): Promise<string> {
  if (isUuid(ref)) return ref
  const found: string[] = []
  for (let cursor: string | undefined; ;) {
    const query = { limit: '200', ...given({ cursor }) }
    const page: Page<{ id: string; slug?: string; name: string }> =
      kind === 'role'
        ? await cli.call(listRoles, { query })
        : await cli.call(listCapabilities, { query })
    found.push(...page.items.filter(({ slug, name }) => (slug ?? name) === ref).map(({ id }) => id))
    if (page.nextCursor === null) break
    cursor = page.nextCursor
  }
  const [id, ...others] = found
  if (id !== undefined && others.length === 0) return id
  const hint = `"control-plane ${kind} list" shows the ids`
  if (id === undefined) throw new CliError(`Cannot find ${kind} "${ref}"`, { hint })
  throw new CliError(`Cannot tell which ${kind} "${ref}" is`, { hint })
}

const assignments = command({
  name: 'assignment list',
  args: '<principal-id>',
  summary: 'List the roles, capabilities and skills of a principal, newest first',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { positionals: [principal = ''], values: { limit, cursor } }) {
    const params = { id: principalId(principal) }
    const page = await call(listPrincipalAssignments, { params, query: given({ limit, cursor }) })
    showPage(screen, page, {
      headings: ['KIND', 'ID', 'WORKSPACE', 'SINCE'],
      row: ({ roleId, capabilityId, skillId, workspaceId, createdAt }) => [
        roleId === null ? (capabilityId === null ? 'skill' : 'capability') : 'role',
        roleId ?? capabilityId ?? skillId ?? '',
        workspaceId ?? '-',
        createdAt,
      ],
      none: 'nothing is assigned',
    })
  },
})

export const roleCommands = [
  createOne,
  listThem,
  createCapable,
  listCapable,
  ...grantCommands,
  assignments,
]
