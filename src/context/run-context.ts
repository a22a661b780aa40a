import { lineOf } from '#access/is-eligible.ts'
import { selectApprovals } from '#approvals/approval.sql.ts'
import { approvalView } from '#approvals/replies.ts'
import { selectLatestArtifacts } from '#artifacts/artifact.sql.ts'
import { artifactReply } from '#artifacts/replies.ts'
import { permits } from '#contract/permissions.ts'
import type { RunContext } from '#contract/run-context.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import { encodeCursor } from '#events/cursor.ts'
import { currentPosition } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { workspaceReply } from '#org/replies.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import type { WorkRules } from '#projects/read-governance.ts'
import { selectChild, selectChildrenOfTask } from '#run-control/child-handle.sql.ts'
import { selectMessages } from '#run-control/control-message.sql.ts'
import { childReply, messageReply } from '#run-control/replies.ts'
import { selectCheckpointsOfTask } from '#runs/checkpoint.sql.ts'
import { instructionsFor } from '#runs/instructions.ts'
import { checkpointReply, runReply } from '#runs/replies.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { skillViews } from '#skills/skill-views.ts'
import { protocolsOf } from '#skills/tool.ts'
import { selectClaim } from '#work/claim.sql.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { claimReply, taskReply } from '#work/replies.ts'
import { selectSession } from '#work/session.sql.ts'
import { selectTask } from '#work/task.sql.ts'
import { publicIdOf } from '#work/task.ts'
import { selectInputs, selectRelatedTasks } from './related-work.sql.ts'

const MAX_ARTIFACTS = 20
const MAX_CHECKPOINTS = 500
const MAX_MESSAGES = 200
const MAX_CHILDREN = 200
const MAX_RELATED = 200
const MAX_INPUTS = 100
const MAX_APPROVALS = 50

/**
 * What a run goes by. The journal's cursor is read before anything else; what the caller may not read is
 * empty. Throws `not_found`.
 */
export async function runContext(sql: Sql, ctx: Ctx, id: string): Promise<RunContext> {
  const eventCursor = encodeCursor(await currentPosition(sql, ctx))
  const run = found(await selectRun(sql, ctx, id), 'run', id)
  const { taskId } = run
  const task = found(await selectTask(sql, ctx, taskId), 'task', taskId)
  const claim = found(await selectClaim(sql, ctx, run.claimId), 'claim', run.claimId)
  const workspace = task.workspaceId ? await selectWorkspace(sql, ctx, task.workspaceId) : undefined
  const rules = await readWorkRules(sql, ctx, task.workspaceId)
  const { pending, children, checkpoints } = await readRecords(sql, ctx, run)
  return {
    run: runReply(run),
    task: taskReply(task),
    workspace: workspace ? workspaceReply(workspace) : null,
    claim: claimReply(claim),
    requirements: task.requirements,
    relations: await relations(sql, ctx, taskId),
    recentArtifacts: await recentArtifacts(sql, ctx, taskId),
    inputs: await inputs(sql, ctx, taskId),
    pendingApprovals: await pendingApprovals(sql, ctx, taskId),
    checkpoints: checkpoints.map((row) => ({ ...checkpointReply(row), attempt: row.attempt })),
    skills: await executableSkills(sql, ctx, { run, claim, rules }),
    pendingControlMessages: pending.map(messageReply),
    childHandles: children.map(childReply),
    eventCursor,
    instructions: await instructionsFor(sql, ctx, task, rules),
  }
}

async function readRecords(sql: Sql, ctx: Ctx, run: { id: string; taskId: string }) {
  const { id: runId, taskId } = run
  const status = 'accepted'
  return {
    pending: await selectMessages(sql, ctx, { runId, after: 0, limit: MAX_MESSAGES, status }),
    children: await selectChildrenOfTask(sql, ctx, { taskId, limit: MAX_CHILDREN }),
    checkpoints: await selectCheckpointsOfTask(sql, ctx, { taskId, limit: MAX_CHECKPOINTS }),
  }
}

/** What the holder of the run can call for it, whoever asks. */
async function executableSkills(
  sql: Sql,
  ctx: Ctx,
  { run, claim, rules }: { run: RunRow; claim: ClaimRow; rules: WorkRules | undefined },
): Promise<RunContext['skills']> {
  const session = await selectSession(sql, ctx, run.sessionId)
  const handle = claim.handleId === null ? undefined : await selectChild(sql, ctx, claim.handleId)
  const policy = {
    allowedProtocols: rules?.governance.allowedSkillProtocols ?? null,
    supportedProtocols: protocolsOf(session?.capabilities ?? []),
    grantedSkills: handle?.skills ?? null,
  }
  const { principalId, workspaceId } = run
  const line = await lineOf(sql, ctx, workspaceId)
  const views = await skillViews(sql, ctx, { principalId, line, policy })
  return views.filter(({ executable }) => executable)
}

async function relations(sql: Sql, ctx: Ctx, id: string): Promise<RunContext['relations']> {
  const rows = await selectRelatedTasks(sql, ctx, { id, limit: MAX_RELATED })
  return rows.map(({ taskNumber, ...row }) => ({ ...row, taskPublicId: publicIdOf(taskNumber) }))
}

async function inputs(sql: Sql, ctx: Ctx, id: string): Promise<RunContext['inputs']> {
  if (!permits(ctx.permissions, 'artifacts.read')) return []
  const rows = await selectInputs(sql, ctx, { id, limit: MAX_INPUTS })
  return rows.map(({ sourceTaskNumber, ...row }) => {
    const sourceTaskPublicId = publicIdOf(sourceTaskNumber)
    return { key: `${sourceTaskPublicId}/${row.name}`, sourceTaskPublicId, ...row }
  })
}

/** Whoever is asked about the task or its artifacts, newest first. */
async function pendingApprovals(sql: Sql, ctx: Ctx, taskId: string) {
  if (!permits(ctx.permissions, 'approvals.read')) return []
  const page: PageRequest = { listing: '', limit: MAX_APPROVALS, after: undefined }
  const rows = await selectApprovals(sql, ctx, { taskId, status: 'pending', page })
  return rows.slice(0, MAX_APPROVALS).map(approvalView)
}

async function recentArtifacts(sql: Sql, ctx: Ctx, taskId: string) {
  if (!permits(ctx.permissions, 'artifacts.read')) return []
  const rows = await selectLatestArtifacts(sql, ctx, { taskId, limit: MAX_ARTIFACTS })
  return rows.map(artifactReply)
}
