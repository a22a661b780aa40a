import { createGoal, getGoal, GOAL_STATUSES, listGoals, updateGoal } from '#contract/goals.ts'
import type { Goal } from '#contract/goals.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, oneOf } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { chosenWorkspace, resolveWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const FIELD_OPTIONS = {
  description: { value: 'text', summary: 'What it is about' },
  status: { value: 'status', summary: GOAL_STATUSES.join(', ') },
  owner: { value: 'principal', summary: 'Id of who answers for it' },
  parent: { value: 'goal', summary: 'Id of the goal that it is a part of' },
  criterion: { value: 'text', repeat: true, summary: 'How to tell that it is reached' },
} as const

const list = command({
  name: 'goal list',
  summary: 'List goals, newest first',
  options: {
    status: { value: 'status', summary: `Only ${GOAL_STATUSES.join(', ')}` },
    workspace: { value: 'workspace', summary: 'Only those of this workspace' },
    descendants: { summary: 'With --workspace: also of the workspaces below it' },
    parent: { value: 'goal', summary: 'Only the parts of this goal' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values: { status, workspace, descendants, parent, limit, cursor } }) {
    const query = given({
      status: oneOf(status, GOAL_STATUSES, '--status'),
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      includeDescendants: descendants ? ('true' as const) : undefined,
      parentGoalId: parent,
      limit,
      cursor,
    })
    showPage(cli.screen, await cli.call(listGoals, { query }), {
      headings: ['GOAL', 'STATUS', 'TITLE'],
      row: ({ id, status: now, title }) => [id, now, title],
      none: 'no goals',
    })
  },
})

const get = command({
  name: 'goal get',
  args: '<goal>',
  summary: 'Show a goal with what tells that it is reached',
  async run(cli, { positionals: [id = ''] }) {
    showGoal(cli, await cli.call(getGoal, { params: { id } }))
  },
})

const create = command({
  name: 'goal create',
  args: '<title...>',
  summary: 'Create a goal',
  options: { ...FIELD_OPTIONS, workspace: WORKSPACE_OPTION },
  async run(cli, { positionals, values: { workspace, ...values } }) {
    const workspaceId = await chosenWorkspace(cli, workspace)
    const body = { title: positionals.join(' '), ...fieldsOf(values), ...given({ workspaceId }) }
    const goal = await cli.call(createGoal, { body })
    cli.screen.result(goal, () => cli.screen.line(`Created goal ${goal.id} ${goal.title}`))
  },
})

const update = command({
  name: 'goal update',
  args: '<goal>',
  summary: 'Change a goal; criteria as a whole',
  options: { title: { value: 'text', summary: 'What it is called' }, ...FIELD_OPTIONS },
  async run(cli, { positionals: [id = ''], values: { title, ...values } }) {
    const { version } = await cli.call(getGoal, { params: { id } })
    const body = { ...fieldsOf(values), ...given({ title }) }
    showGoal(cli, await cli.call(updateGoal, { params: { id }, ifMatch: version, body }))
  },
})

function fieldsOf(values: {
  readonly description?: string
  readonly status?: string
  readonly owner?: string
  readonly parent?: string
  readonly criterion?: readonly string[]
}) {
  return given({
    description: values.description,
    status: oneOf(values.status, GOAL_STATUSES, '--status'),
    ownerId: values.owner,
    parentGoalId: values.parent,
    criteria: values.criterion && [...values.criterion],
  })
}

function showGoal({ screen }: Cli, goal: Goal): void {
  screen.result(goal, () => {
    screen.heading(goal.title)
    screen.fields([
      ['id', goal.id],
      ['status', goal.status],
      ['workspace', goal.workspaceId],
      ['owner', goal.ownerId],
      ['part of', goal.parentGoalId],
      ['version', goal.version],
      ['updated', goal.updatedAt],
    ])
    for (const criterion of goal.criteria) {
      screen.line(`- ${typeof criterion === 'string' ? criterion : JSON.stringify(criterion)}`)
    }
    if (goal.description === '') return
    screen.line('')
    screen.block(goal.description)
  })
}

export const goalCommands = [list, get, create, update]
