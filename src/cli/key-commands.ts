import { createApiKey, listApiKeys, revokeApiKey } from '#contract/org.ts'
import { AGENT_PERMISSIONS, HUMAN_ONLY, PERMISSIONS } from '#contract/permissions.ts'
import { command } from './command.ts'
import { given } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { principalId } from './principal-commands.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const create = command({
  name: 'key create',
  args: '<principal-id>',
  summary: 'Issue a key; it is shown this once and on standard output alone',
  details: [
    'Without --permission the key allows what an agent needs for its daily work:',
    `${AGENT_PERMISSIONS.join(', ')}.`,
    'Others: ' +
      `${PERMISSIONS.filter((name) => !AGENT_PERMISSIONS.some((one) => one === name)).join(', ')}.`,
    `For people alone: ${[...HUMAN_ONLY].join(', ')}; "admin" implies all.`,
  ],
  options: {
    name: { value: 'name', summary: 'What the key is for (cli)' },
    permission: { value: 'name', repeat: true, summary: 'What the key allows' },
    workspace: { value: 'workspace', summary: 'Only there and below: id, slug or path of slugs' },
    expires: { value: 'time', summary: 'When it ends, as 2026-12-31T00:00:00Z (never)' },
  },
  async run(cli, { positionals: [principal = ''], values }) {
    const id = principalId(principal)
    const { name = 'cli', permission = AGENT_PERMISSIONS, workspace, expires } = values
    const permissions = permission.flatMap((words) => words.split(',')).map((word) => word.trim())
    const workspaceId = workspace === undefined ? undefined : await resolveWorkspace(cli, workspace)
    const body = { name, permissions, ...given({ workspaceId, expiresAt: expires }) }
    const created = await cli.call(createApiKey, { params: { id }, body })
    cli.screen.result(created, () => cli.screen.line(created.key ?? ''))
    cli.screen.note(`Key ${created.prefix} of ${id}; it is not shown again: keep it now`)
  },
})

const list = command({
  name: 'key list',
  args: '<principal-id>',
  summary: 'List the keys of a principal, without their secrets',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { positionals: [principal = ''], values: { limit, cursor } }) {
    const id = principalId(principal)
    const page = await call(listApiKeys, { params: { id }, query: given({ limit, cursor }) })
    showPage(screen, page, {
      headings: ['KEY', 'PREFIX', 'NAME', 'STATE', 'LAST USED'],
      row: ({ id: key, prefix, name, revokedAt, expiresAt, lastUsedAt }) => [
        key,
        prefix,
        name,
        revokedAt === null ? `until ${expiresAt ?? 'revoked'}` : `revoked ${revokedAt}`,
        lastUsedAt ?? 'never',
      ],
      none: 'no keys',
    })
  },
})

const revoke = command({
  name: 'key revoke',
  args: '<key-id>',
  summary: 'End a key at once',
  async run({ call, screen }, { positionals: [id = ''] }) {
    const key = await call(revokeApiKey, { params: { id } })
    screen.result(key, () => screen.line(`Revoked key ${key.prefix} (${key.name})`))
  },
})

export const keyCommands = [create, list, revoke]
