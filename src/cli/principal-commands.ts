import {
  createPrincipal,
  getPrincipal,
  listPrincipals,
  PrincipalKind,
  updatePrincipal,
} from '#contract/org.ts'
import type { Principal, PrincipalStatus } from '#contract/org.ts'
import { isUuid } from '#lib/id.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, oneOf } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'

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
  options: {
    kind: { value: 'kind', summary: `Only ${PrincipalKind.options.join(', ')}` },
    ...PAGE_OPTIONS,
  },
  async run({ call, screen }, { values: { limit, cursor, ...values } }) {
    const kind = oneOf(values.kind, PrincipalKind.options, '--kind')
    const page = await call(listPrincipals, { query: given({ kind, limit, cursor }) })
    showPage(screen, page, {
      headings: ['PRINCIPAL', 'KIND', 'STATUS', 'NAME'],
      row: (one) => [one.id, one.kind, one.status, one.displayName],
      none: 'no principals',
    })
  },
})

const get = command({
  name: 'principal get',
  args: '<principal-id>',
  summary: 'Show a person, an agent or a service',
  async run(cli, { positionals: [principal = ''] }) {
    const params = { id: principalId(principal) }
    showPrincipal(cli, await cli.call(getPrincipal, { params }))
  },
})

const rename = command({
  name: 'principal rename',
  args: '<principal-id> <name...>',
  summary: 'Call a principal otherwise',
  async run(cli, { positionals: [principal = '', ...words] }) {
    await change(cli, principal, { displayName: words.join(' ') })
  },
})

const suspend = command({
  name: 'principal suspend',
  args: '<principal-id>',
  summary: 'Refuse all credentials of a principal for now, from this moment on',
  run: async (cli, { positionals: [principal = ''] }) =>
    await change(cli, principal, { status: 'suspended' }),
})

const disable = command({
  name: 'principal disable',
  args: '<principal-id>',
  summary: 'Refuse all credentials of a principal that is gone, from this moment on',
  run: async (cli, { positionals: [principal = ''] }) =>
    await change(cli, principal, { status: 'disabled' }),
})

const reactivate = command({
  name: 'principal reactivate',
  args: '<principal-id>',
  summary: 'Accept the credentials of a principal again',
  run: async (cli, { positionals: [principal = ''] }) =>
    await change(cli, principal, { status: 'active' }),
})

async function change(
  cli: Cli,
  principal: string,
  body: { displayName?: string; status?: PrincipalStatus },
): Promise<void> {
  const params = { id: principalId(principal) }
  const { version } = await cli.call(getPrincipal, { params })
  showPrincipal(cli, await cli.call(updatePrincipal, { params, ifMatch: version, body }))
}

function showPrincipal({ screen }: Cli, principal: Principal): void {
  screen.result(principal, () => {
    screen.heading(`${principal.displayName} (${principal.kind})`)
    screen.fields([
      ['id', principal.id],
      ['status', principal.status],
      ['version', principal.version],
      ['created', principal.createdAt],
    ])
  })
}

/** Throws `CliError` unless it is an id: names are not unique. */
export function principalId(text: string, argument = '<principal-id>'): string {
  if (isUuid(text)) return text
  throw new CliError(`${argument} must be the id of a principal`, {
    hint: '"control-plane principal list" shows the ids',
  })
}

export const principalCommands = [create, list, get, rename, suspend, disable, reactivate]
