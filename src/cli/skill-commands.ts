import type { CallInput } from '#client/client.ts'
import {
  assignSkill,
  listSkills,
  registerSkill,
  revokeSkill,
  SKILL_STATUSES,
} from '#contract/skills.ts'
import { isUuid } from '#lib/id.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, jsonObject, oneOf, required } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { readText } from './read-input.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const MAX_SKILL_BYTES = 1 << 20

const register = command({
  name: 'skills register',
  args: '<file>',
  summary: 'Register a version of a skill from a JSON file; - reads standard input',
  async run(cli, { positionals: [path = ''] }) {
    const body = jsonObject(
      await readText(cli.io, path, MAX_SKILL_BYTES),
      path === '-' ? 'standard input' : path,
    )
    const skill = await cli.call(registerSkill, {
      // The server checks it and says where it is wrong.
      body: body as CallInput<typeof registerSkill>['body'] & object,
    })
    cli.screen.result(skill, () => {
      cli.screen.line(`Registered ${skill.name}@${skill.version} ${skill.id}`)
    })
    cli.screen.note(`next: "control-plane skills assign ${skill.name}@${skill.version} --to <id>"`)
  },
})

const list = command({
  name: 'skills list',
  summary: 'List versions of skills, newest first',
  options: {
    name: { value: 'name', summary: 'Only versions of this skill' },
    status: { value: 'status', summary: `Only ${SKILL_STATUSES.join(', ')}` },
    ...PAGE_OPTIONS,
  },
  async run({ call, screen }, { values: { limit, cursor, ...values } }) {
    const status = oneOf(values.status, SKILL_STATUSES, '--status')
    const page = await call(listSkills, {
      query: given({ name: values.name, status, limit, cursor }),
    })
    showPage(screen, page, {
      headings: ['SKILL', 'VERSION', 'STATUS', 'PROTOCOL', 'SIDE EFFECTS', 'RISK'],
      row: (one) => [
        one.name,
        one.version,
        one.status,
        one.protocol,
        one.sideEffects,
        one.riskLevel,
      ],
      none: 'no skills',
    })
  },
})

const GRANT_OPTIONS = {
  to: { value: 'principal', summary: 'Id of who gets it' },
  workspace: {
    value: 'workspace',
    summary: 'Only there and below: id, slug or path of slugs; everywhere when absent',
  },
} as const

const SKILL_ARGUMENT = ['<skill> is an id, a name (its newest version) or name@version.']

const assign = command({
  name: 'skills assign',
  args: '<skill>',
  summary: 'Give a skill to a principal, everywhere or in a workspace',
  details: SKILL_ARGUMENT,
  options: GRANT_OPTIONS,
  async run(cli, { positionals: [ref = ''], values }) {
    const input = await grantOf(cli, ref, { who: required(values.to, '--to'), ...values })
    const assignment = await cli.call(assignSkill, input)
    cli.screen.result(assignment, () => cli.screen.line(`Assigned ${ref} to ${values.to ?? ''}`))
  },
})

const revoke = command({
  name: 'skills revoke',
  args: '<skill>',
  summary: 'Take a skill from a principal where it was given',
  details: SKILL_ARGUMENT,
  options: {
    from: { value: 'principal', summary: 'Id of who loses it' },
    workspace: {
      ...GRANT_OPTIONS.workspace,
      summary: 'Where it was given; everywhere when absent',
    },
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const input = await grantOf(cli, ref, { who: required(values.from, '--from'), ...values })
    const answer = await cli.call(revokeSkill, input)
    cli.screen.result(answer, () => {
      cli.screen.line(answer.revoked ? `Revoked ${ref}` : `${ref} was not given there`)
    })
  },
})

async function grantOf(
  cli: Cli,
  ref: string,
  { who, workspace }: { who: string; workspace?: string },
) {
  const workspaceId = workspace === undefined ? null : await resolveWorkspace(cli, workspace)
  return { params: { id: await skillId(cli, ref) }, body: { principalId: who, workspaceId } }
}

/** The id of a skill named by id, name or name@version. Throws `CliError` when there is none. */
async function skillId(cli: Cli, ref: string): Promise<string> {
  if (isUuid(ref)) return ref
  const [name = '', version] = ref.split('@')
  const { items } = await cli.call(listSkills, { query: { name, limit: '200' } })
  const skill = items.find((one) => version === undefined || one.version === version)
  if (skill) return skill.id
  throw new CliError(`Cannot find skill "${ref}"`, {
    hint: '"control-plane skills list" shows those there are',
  })
}

export const skillCommands = [register, list, assign, revoke]
