import {
  createApiKey,
  createPrincipal,
  listApiKeys,
  listPrincipals,
  PrincipalKind,
  revokeApiKey,
} from '#contract/org.ts'
import { AGENT_PERMISSIONS, HUMAN_ONLY, PERMISSIONS } from '#contract/permissions.ts'
import { isUuid } from '#lib/id.ts'
import { CliError } from './cli-error.ts'
import { command } from './command.ts'
import { given, oneOf } from './option-values.ts'

const create = command({
  name: 'principal create',
  args: '<name...>',
  summary: 'Add a person, an agent or a service',
  options: { kind: { value: 'kind', summary: `${PrincipalKind.options.join(', ')} (agent)` } },
  async run({ call, screen }, { positionals, values }) {
    const kind = oneOf(values.kind, PrincipalKind.options, '--kind') ?? 'agent'
    const body = { kind, displayName: positionals.join(' ') }
    const principal = await call(createPrincipal, { body })
    screen.result(principal, () => {
      screen.line(`Created ${principal.kind} ${principal.displayName} ${principal.id}`)
    })
    screen.note(`next: "control-plane key create ${principal.id}" makes a key for it`)
  },
})

const list = command({
  name: 'principal list',
  summary: 'List people, agents and services, newest first',
  options: { kind: { value: 'kind', summary: `Only ${PrincipalKind.options.join(', ')}` } },
  async run({ call, screen }, { values }) {
    const kind = oneOf(values.kind, PrincipalKind.options, '--kind')
    const page = await call(listPrincipals, { query: given({ kind }) })
    screen.result(page, () => {
      screen.table(
        ['PRINCIPAL', 'KIND', 'STATUS', 'NAME'],
        page.items.map((one) => [one.id, one.kind, one.status, one.displayName]),
        'no principals',
      )
    })
  },
})

const createKey = command({
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
    expires: { value: 'time', summary: 'When it ends, as 2026-12-31T00:00:00Z (never)' },
  },
  async run({ call, screen }, { positionals: [principal = ''], values }) {
    const id = principalId(principal)
    const { name = 'cli', permission = AGENT_PERMISSIONS, expires } = values
    const permissions = permission.flatMap((words) => words.split(',')).map((word) => word.trim())
    const body = { name, permissions, ...given({ expiresAt: expires }) }
    const created = await call(createApiKey, { params: { id }, body })
    screen.result(created, () => screen.line(created.key ?? ''))
    screen.note(`Key ${created.prefix} of ${id}; it is not shown again: keep it now`)
  },
})

const listKeys = command({
  name: 'key list',
  args: '<principal-id>',
  summary: 'List the keys of a principal, without their secrets',
  async run({ call, screen }, { positionals: [principal = ''] }) {
    const id = principalId(principal)
    const page = await call(listApiKeys, { params: { id }, query: {} })
    screen.result(page, () => {
      screen.table(
        ['KEY', 'PREFIX', 'NAME', 'STATE', 'LAST USED'],
        page.items.map(({ id: key, prefix, name, revokedAt, expiresAt, lastUsedAt }) => [
          key,
          prefix,
          name,
          revokedAt === null ? `until ${expiresAt ?? 'revoked'}` : `revoked ${revokedAt}`,
          lastUsedAt ?? 'never',
        ]),
        'no keys',
      )
    })
  },
})

const revokeKey = command({
  name: 'key revoke',
  args: '<key-id>',
  summary: 'End a key at once',
  async run({ call, screen }, { positionals: [id = ''] }) {
    const key = await call(revokeApiKey, { params: { id } })
    screen.result(key, () => screen.line(`Revoked key ${key.prefix} (${key.name})`))
  },
})

function principalId(text: string): string {
  if (isUuid(text)) return text
  throw new CliError('<principal-id> must be the id of a principal', {
    hint: '"control-plane principal list" shows the ids',
  })
}

export const principalCommands = [create, list, createKey, listKeys, revokeKey]
