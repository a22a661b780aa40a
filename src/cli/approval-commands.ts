import {
  APPROVAL_STATUSES,
  approve,
  cancelApproval,
  getApproval,
  listApprovals,
  reject,
  requestApproval,
} from '#contract/approvals.ts'
import type { Approval } from '#contract/approvals.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { FENCE_OPTIONS, fenceOf, underClaim } from './held-claim.ts'
import { given, oneOf } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import { resolveWorkspace } from './resolve-workspace.ts'

const list = command({
  name: 'approvals list',
  summary: 'List approvals, newest first',
  options: {
    status: { value: 'status', summary: `Only those that are ${APPROVAL_STATUSES.join(', ')}` },
    task: { value: 'task', summary: 'Only those of this task' },
    workspace: { value: 'workspace', summary: 'Only those of this workspace' },
    descendants: { summary: 'With --workspace: also of the workspaces below it' },
    mine: { summary: 'Only those addressed to me' },
    decidable: { summary: 'Only those that wait for a decision I may make' },
    ...PAGE_OPTIONS,
  },
  async run(cli, { values }) {
    const { task, workspace, descendants, mine, decidable, limit, cursor } = values
    const query = given({
      status: oneOf(values.status, APPROVAL_STATUSES, '--status'),
      taskId: task,
      workspaceId: workspace === undefined ? undefined : await resolveWorkspace(cli, workspace),
      includeDescendants: descendants ? ('true' as const) : undefined,
      assignedToMe: mine ? ('true' as const) : undefined,
      decidableByMe: decidable ? ('true' as const) : undefined,
      limit,
      cursor,
    })
    const page = await cli.call(listApprovals, { query })
    showPage(cli.screen, page, {
      headings: ['APPROVAL', 'STATUS', 'GATE', 'COMMENT'],
      row: (one) => [one.id, statusOf(one), one.gate ? 'gate' : '', one.comment ?? ''],
      none: 'no approvals',
    })
  },
})

const get = command({
  name: 'approvals get',
  args: '<approval>',
  summary: 'Show an approval',
  async run(cli, { positionals: [id = ''] }) {
    const approval = await cli.call(getApproval, { params: { id } })
    cli.screen.result(approval, () => showApproval(cli, approval))
  },
})

const request = command({
  name: 'approvals request',
  summary: 'Ask a person, or whoever holds a role, to approve a task or an artifact',
  details: [
    'With --task it is asked for under the claim that "task claim" took here, if there is one.',
  ],
  options: {
    task: { value: 'task', summary: 'Task to be approved as it is now' },
    artifact: { value: 'id', summary: 'Artifact to be approved, the newest revision' },
    role: { value: 'id', summary: 'Role whose holders may decide' },
    person: { value: 'principal', summary: 'Id of the person who is to decide, instead of --role' },
    gate: { summary: 'With --task: keep it from being claimed and completed until then' },
    comment: { value: 'text', summary: 'What is asked' },
    ...FENCE_OPTIONS,
  },
  async run(cli, { values }) {
    const { task, artifact, role, person, gate, comment } = values
    const fence = task === undefined ? undefined : await fenceOf(cli, task, values)
    const body = given({
      taskId: task,
      artifactId: artifact,
      requiredRoleId: role,
      assignedPrincipalId: person,
      gate: gate ? true : undefined,
      comment,
      ...fence,
    })
    const ask = () => cli.call(requestApproval, { body })
    const approval = await (fence ? underClaim(cli, task ?? '', ask) : ask())
    cli.screen.result(approval, () => {
      cli.screen.line(`Asked for ${approval.gate ? 'gate' : 'approval'} ${approval.id}`)
    })
  },
})

/** A command that ends what is pending. */
function decision(word: string, summary: string, route: typeof approve) {
  return command({
    name: `approvals ${word}`,
    args: '<approval>',
    summary,
    options: { comment: { value: 'text', summary: 'Why' } },
    async run(cli, { positionals: [id = ''], values: { comment } }) {
      const approval = await cli.call(route, { params: { id }, body: given({ comment }) })
      cli.screen.result(approval, () => cli.screen.line(`Approval ${id} is ${approval.status}`))
    },
  })
}

function statusOf({ status, stale }: Approval): string {
  return stale ? `${status} (stale)` : status
}

function showApproval({ screen }: Cli, approval: Approval): void {
  screen.heading(`Approval ${approval.id}`)
  screen.fields([
    ['status', statusOf(approval)],
    ['gate', approval.gate ? 'yes' : 'no'],
    ['task', approval.taskId],
    ['revision', approval.taskRevision],
    ['artifact', approval.artifactId],
    ['workspace', approval.workspaceId],
    ['role', approval.requiredRoleId],
    ['person', approval.assignedPrincipalId],
    ['asked by', approval.requestedBy],
    ['asked at', approval.createdAt],
    ['comment', approval.comment],
    ['decided by', approval.decidedBy],
    ['decided at', approval.decidedAt],
    ['reason', approval.decisionComment],
  ])
}

export const approvalCommands = [
  list,
  get,
  request,
  decision('approve', 'Say yes, once, to what was asked', approve),
  decision('reject', 'Say no, once', reject),
  decision('cancel', 'Withdraw a request that is pending', cancelApproval),
]
