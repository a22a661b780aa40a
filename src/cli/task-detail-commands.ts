import { createComment, listComments } from '#contract/comments.ts'
import { addRelation, listRelations, RELATION_TYPES, removeRelation } from '#contract/relations.ts'
import { listTaskTypes } from '#contract/task-types.ts'
import { getTask, PRIORITIES, updateTask } from '#contract/tasks.ts'
import { listTransitions } from '#contract/transitions.ts'
import { command } from './command.ts'
import { FENCE_OPTIONS, fenceOf, underClaim } from './held-claim.ts'
import { given, oneOf, required, wholeNumber } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { readInput } from './read-input.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const MAX_TEXT_BYTES = 1 << 20

const update = command({
  name: 'task update',
  args: '<task>',
  summary: 'Change a task; while it is claimed, its status only under the claim',
  options: {
    title: { value: 'text', summary: 'What it is called' },
    description: { value: 'text', summary: 'What is to be done; - reads standard input' },
    status: { value: 'status', summary: 'A status that it can go to; see "task transitions"' },
    priority: { value: 'priority', summary: PRIORITIES.join(', ') },
    assignee: { value: 'principal', summary: 'Id of who should do it; "none" for nobody' },
    workspace: { value: 'workspace', summary: 'Where it belongs; "none" for nowhere' },
    goal: { value: 'goal', summary: 'Id of what it is for; "none" for nothing' },
    due: { value: 'date', summary: 'Day by which it should be done; "none" for no day' },
    'expected-version': {
      value: 'number',
      summary: 'Refuse if the task is not at this version (the one it has now)',
    },
    ...FENCE_OPTIONS,
  },
  async run(cli, { positionals: [ref = ''], values }) {
    const { title, description, status, priority, assignee, workspace, goal, due } = values
    const fence = status === undefined ? undefined : await fenceOf(cli, ref, values)
    const ifMatch =
      wholeNumber(values['expected-version'], '--expected-version') ??
      (await cli.call(getTask, { params: { ref } })).version
    const body = given({
      title,
      description: description === '-' ? await readInput(cli.io, MAX_TEXT_BYTES) : description,
      status,
      priority: oneOf(priority, PRIORITIES, '--priority'),
      assigneeId: orNull(assignee),
      workspaceId:
        workspace === undefined || workspace === 'none'
          ? orNull(workspace)
          : await resolveWorkspace(cli, workspace),
      goalId: orNull(goal),
      dueDate: orNull(due),
    })
    const task = await underClaim(cli, ref, () =>
      cli.call(updateTask, { params: { ref }, ifMatch, body: { ...body, ...fence } }),
    )
    cli.screen.result(task, () => {
      cli.screen.line(`Changed ${task.publicId} to version ${task.version}`)
    })
  },
})

function orNull(text: string | undefined): string | null | undefined {
  return text === 'none' ? null : text
}

const transitions = command({
  name: 'task transitions',
  args: '<task>',
  summary: 'Show where a task can go from its status, and how',
  async run({ call, screen }, { positionals: [ref = ''] }) {
    const answer = await call(listTransitions, { params: { ref } })
    screen.result(answer, () => {
      screen.line(`now ${answer.status} (${answer.systemStatusCategory})`)
      screen.table(
        ['STATUS', 'CATEGORY', 'BY'],
        answer.transitions.map((one) => [
          one.status,
          one.systemStatusCategory,
          one.by === 'complete' ? 'task complete' : 'task update --status',
        ]),
        'nothing leads on',
      )
    })
  },
})

const types = command({
  name: 'task types',
  summary: 'List the newest version of every task type',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { values: { limit, cursor } }) {
    const query = { versions: 'newest' as const, ...given({ limit, cursor }) }
    showPage(screen, await call(listTaskTypes, { query }), {
      headings: ['TYPE', 'VERSION', 'NAME', 'STATUSES'],
      row: ({ key, version, displayName, lifecycleSchema }) => [
        key,
        String(version),
        displayName,
        lifecycleSchema.statuses.map((status) => status.key).join(', '),
      ],
      none: 'no task types',
    })
  },
})

const comment = command({
  name: 'task comment',
  args: '<task> <text...>',
  summary: 'Comment on a task; - reads standard input',
  async run(cli, { positionals: [ref = '', ...words] }) {
    const body =
      words.length === 1 && words[0] === '-'
        ? await readInput(cli.io, MAX_TEXT_BYTES)
        : words.join(' ')
    const said = await cli.call(createComment, { params: { ref }, body: { body } })
    cli.screen.result(said, () => cli.screen.line(`Comment ${said.id}`))
  },
})

const comments = command({
  name: 'task comments',
  args: '<task>',
  summary: 'Show what was said about a task, oldest first',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { positionals: [ref = ''], values: { limit, cursor } }) {
    const page = await call(listComments, { params: { ref }, query: given({ limit, cursor }) })
    screen.result(page, () => {
      if (page.items.length === 0) screen.note('no comments')
      for (const { authorId, createdAt, version, body } of page.items) {
        screen.heading(`${createdAt} by ${authorId}${version > 1 ? ' (changed)' : ''}`)
        screen.block(body)
      }
      if (page.nextCursor !== null) screen.note(`more: --cursor ${page.nextCursor}`)
    })
  },
})

const relate = command({
  name: 'task relate',
  args: '<task> <type> <other>',
  summary: `Relate a task to another: ${RELATION_TYPES.join(', ')}`,
  async run({ call, screen }, { positionals: [ref = '', word, toTask = ''] }) {
    const type = oneOf(required(word, '<type>'), RELATION_TYPES, '<type>') ?? 'relates_to'
    const relation = await call(addRelation, { params: { ref }, body: { type, toTask } })
    screen.result(relation, () => {
      const { fromTaskPublicId, toTaskPublicId } = relation
      screen.line(`${fromTaskPublicId} ${type} ${toTaskPublicId}`)
    })
  },
})

const relations = command({
  name: 'task relations',
  args: '<task>',
  summary: 'List the relations of a task in both directions',
  options: PAGE_OPTIONS,
  async run({ call, screen }, { positionals: [ref = ''], values: { limit, cursor } }) {
    const page = await call(listRelations, { params: { ref }, query: given({ limit, cursor }) })
    showPage(screen, page, {
      headings: ['RELATION', 'TASK', 'TYPE', 'OTHER'],
      row: (one) => [one.id, one.fromTaskPublicId, one.type, one.toTaskPublicId],
      none: 'no relations',
    })
  },
})

const unrelate = command({
  name: 'task unrelate',
  args: '<task> <relation>',
  summary: 'Remove a relation, by its id',
  async run({ call, screen }, { positionals: [ref = '', id = ''] }) {
    const relation = await call(removeRelation, { params: { ref, id } })
    screen.result(relation, () => screen.line(`Removed ${relation.id}`))
  },
})

export const taskDetailCommands = [
  update,
  transitions,
  types,
  comment,
  comments,
  relate,
  relations,
  unrelate,
]
