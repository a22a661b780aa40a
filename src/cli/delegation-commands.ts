import { createDelegation, listDelegations, revokeDelegation } from '#contract/delegations.ts'
import { command } from './command.ts'
import { given, required } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { principalId } from './principal-commands.ts'

const create = command({
  name: 'delegation create',
  summary: 'Let an agent act in the name of a person',
  options: {
    person: { value: 'principal', summary: 'Id of the person' },
    agent: { value: 'principal', summary: 'Id of the agent' },
    permission: {
      value: 'name',
      repeat: true,
      summary: 'What it covers (sessions.open and tasks.claim)',
    },
    expires: { value: 'time', summary: 'When it ends, as 2026-12-31T00:00:00Z (never)' },
  },
  async run({ call, screen }, { values }) {
    const { permission = ['sessions.open', 'tasks.claim'], expires } = values
    const body = {
      humanPrincipalId: principalId(required(values.person, '--person'), '--person'),
      agentPrincipalId: principalId(required(values.agent, '--agent'), '--agent'),
      permissions: permission.flatMap((words) => words.split(',')).map((word) => word.trim()),
      ...given({ expiresAt: expires }),
    }
    const delegation = await call(createDelegation, { body })
    screen.result(delegation, () => {
      screen.line(`Created ${delegation.id} for ${delegation.permissions.join(', ')}`)
    })
  },
})

const list = command({
  name: 'delegation list',
  summary: 'List delegations, newest first',
  options: {
    person: { value: 'principal', summary: 'Only those of this person' },
    agent: { value: 'principal', summary: 'Only those to this agent' },
    ...PAGE_OPTIONS,
  },
  async run({ call, screen }, { values: { person, agent, limit, cursor } }) {
    const query = given({ humanPrincipalId: person, agentPrincipalId: agent, limit, cursor })
    showPage(screen, await call(listDelegations, { query }), {
      headings: ['DELEGATION', 'STATUS', 'PERSON', 'AGENT', 'PERMISSIONS', 'UNTIL'],
      row: (one) => [
        one.id,
        one.status,
        one.humanPrincipalId,
        one.agentPrincipalId,
        one.permissions.join(', '),
        one.expiresAt ?? 'revoked',
      ],
      none: 'no delegations',
    })
  },
})

const revoke = command({
  name: 'delegation revoke',
  args: '<delegation>',
  summary: 'End a delegation at once',
  async run({ call, screen }, { positionals: [id = ''] }) {
    const delegation = await call(revokeDelegation, { params: { id } })
    screen.result(delegation, () => screen.line(`Revoked ${delegation.id}`))
  },
})

export const delegationCommands = [create, list, revoke]
