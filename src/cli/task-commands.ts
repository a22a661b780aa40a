import {
  createTask,
  getClaimability,
  getTask,
  listAvailableWork,
  listTasks,
  PRIORITIES,
} from '#contract/tasks.ts'
import type { Task } from '#contract/tasks.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, oneOf } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import type { Page } from './pages.ts'
import { readInput } from './read-input.ts'
import { chosenWorkspace, resolveWorkspace, WORKSPACE_OPTION } from './resolve-workspace.ts'

const MAX_DESCRIPTION_BYTES = 1 << 20

const list = command({
  name: 'task list',
  summary: 'List tasks, newest first',
  options: {
    status: { value: 'status', summary: 'Only those in this status' },
    workspace: { value: 'workspace', summary: 'Only those of this workspace' },
    descendants: { summary: 'With --workspace: also of the workspaces below it' },
    assignee: { value: 'principal', summary: 'Only those assigned to this principal' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values: { status, workspace, descendants, assignee, limit, cursor } }) {
    const query = given({
      status,
      limit,
      cursor,
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      includeDescendants: descendants ? ('true' as const) : undefined,
      assigneeId: assignee,
    })
    showTasks(cli, await cli.call(listTasks, { query }), 'no tasks')
  },
})

const work = command({
  name: 'work list',
  summary: 'List tasks that could be claimed now, the most urgent first',
  options: {
    workspace: { value: 'workspace', summary: 'Only those of this workspace' },
    descendants: { summary: 'With --workspace: also of the workspaces below it' },
    project: { value: 'project', summary: 'Only those of this project, by id' },
    subprojects: { summary: 'With --project: also those of the projects in it' },
    mine: { summary: 'Only those assigned to me' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values }) {
    const { workspace, descendants, project, subprojects, mine, limit, cursor } = values
    const query = given({
      limit,
      cursor,
      projectId: project,
      includeSubprojects: subprojects ? ('true' as const) : undefined,
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      includeDescendants: descendants ? ('true' as const) : undefined,
      assignedToMe: mine ? ('true' as const) : undefined,
    })
    showTasks(cli, await cli.call(listAvailableWork, { query }), 'nothing can be claimed now')
  },
})

const get = command({
  name: 'task get',
  args: '<task>',
  summary: 'Show a task',
  async run(cli, { positionals: [ref = ''] }) {
    const task = await cli.call(getTask, { params: { ref } })
    cli.screen.result(task, () => showTask(cli, task))
  },
})

const claimability = command({
  name: 'task claimability',
  args: '<task>',
  summary: 'Tell whether a task could be claimed now, and if not, why',
  async run(cli, { positionals: [ref = ''] }) {
    const answer = await cli.call(getClaimability, { params: { ref } })
    cli.screen.result(answer, () => {
      cli.screen.line(
        answer.claimable ? 'claimable' : `not claimable: ${answer.reasons.join(', ')}`,
      )
    })
  },
})

const create = command({
  name: 'task create',
  args: '<title...>',
  summary: 'Create a task',
  options: {
    description: { value: 'text', summary: 'What is to be done; - reads standard input' },
    priority: { value: 'priority', summary: `${PRIORITIES.join(', ')} (medium)` },
    workspace: WORKSPACE_OPTION,
    assignee: { value: 'principal', summary: 'Id of who should do it' },
    due: { value: 'date', summary: 'Day by which it should be done, as 2026-05-31' },
    acceptance: { value: 'text', repeat: true, summary: 'What has to hold when it is done' },
  },
  async run(cli, { positionals, values }) {
    const { description, priority, workspace, assignee, due, acceptance } = values
    const task = await cli.call(createTask, {
      body: {
        title: positionals.join(' '),
        ...given({
          description:
            description === '-' ? await readInput(cli.io, MAX_DESCRIPTION_BYTES) : description,
          priority: oneOf(priority, PRIORITIES, '--priority'),
          workspaceId: await chosenWorkspace(cli, workspace),
          assigneeId: assignee,
          dueDate: due,
          acceptance: acceptance === undefined ? undefined : [...acceptance],
        }),
      },
    })
    cli.screen.result(task, () => cli.screen.line(`Created ${task.publicId} ${task.title}`))
  },
})

function showTasks({ screen }: Cli, page: Page<Task>, none: string): void {
  showPage(screen, page, {
    headings: ['TASK', 'STATUS', 'PRIORITY', 'TITLE'],
    row: ({ publicId, status, priority, title }) => [publicId, status, priority, title],
    none,
  })
}

function showTask({ screen }: Cli, task: Task): void {
  screen.heading(`${task.publicId} ${task.title}`)
  screen.fields([
    ['id', task.id],
    ['status', `${task.status} (${task.systemStatusCategory})`],
    ['priority', task.priority],
    ['version', task.version],
    ['workspace', task.workspaceId],
    ['assignee', task.assigneeId],
    ['claim', task.activeClaimId],
    ['due', task.dueDate],
    ['updated', task.updatedAt],
  ])
  for (const condition of task.acceptance) {
    screen.line(`- ${typeof condition === 'string' ? condition : JSON.stringify(condition)}`)
  }
  if (task.description === '') return
  screen.line('')
  screen.block(task.description)
}

export const taskCommands = [list, get, create, claimability, work]
