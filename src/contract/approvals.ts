import { z } from 'zod'
import {
  FencingToken,
  Id,
  page,
  pageQuery,
  queryBool,
  TaskRef,
  text,
  UtcInstant,
} from './common.ts'
import { route } from './route.ts'
import { place } from './tasks.ts'

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'cancelled'] as const
export const ApprovalStatus = z.enum(APPROVAL_STATUSES)
export type ApprovalStatus = z.infer<typeof ApprovalStatus>

const Comment = text(2000)

export const NewApproval = z
  .strictObject({
    /** The task to be approved, as it is now. */
    taskId: TaskRef.optional(),
    /** The revision of the task that the caller has seen; refused when there is a newer one. */
    taskRevision: z.int().min(1).max(2_147_483_647).optional(),
    /** The artifact to be approved: the newest revision of its chain. */
    artifactId: Id.optional(),
    /** Whoever holds this role where the task or artifact belongs may decide. */
    requiredRoleId: Id.optional(),
    /** The one person who may decide. */
    assignedPrincipalId: Id.optional(),
    /** Keeps the task from being claimed and completed until it is decided. */
    gate: z.boolean().default(false),
    /** What is asked, for whoever decides; it stands in the journal. */
    comment: Comment.optional(),
    /** The claim under which it is asked for. */
    claimId: Id.optional(),
    fencingToken: FencingToken.optional(),
  })
  .refine((body) => body.taskId !== undefined || body.artifactId !== undefined, {
    path: ['taskId'],
    error: 'or artifactId is needed',
  })
  .refine((body) => body.taskId !== undefined || body.taskRevision === undefined, {
    path: ['taskId'],
    error: 'is needed with taskRevision',
  })
  .refine((body) => body.taskId !== undefined || !body.gate, {
    path: ['taskId'],
    error: 'is needed for a gate',
  })
  .refine(
    (body) => (body.requiredRoleId === undefined) !== (body.assignedPrincipalId === undefined),
    { path: ['requiredRoleId'], error: 'or assignedPrincipalId is needed, and not both' },
  )
  .refine((body) => (body.claimId === undefined) === (body.fencingToken === undefined), {
    path: ['fencingToken'],
    error: 'must stand together with claimId',
  })
  .meta({ id: 'NewApproval' })
export type NewApproval = z.output<typeof NewApproval>

export const Approval = z
  .strictObject({
    id: z.uuid(),
    taskId: z.uuid().nullable(),
    /** The revision of the task that is approved; null when that is the artifact alone. */
    taskRevision: z.int().nullable(),
    artifactId: z.uuid().nullable(),
    workspaceId: z.uuid().nullable(),
    requiredRoleId: z.uuid().nullable(),
    assignedPrincipalId: z.uuid().nullable(),
    gate: z.boolean(),
    comment: z.string().nullable(),
    status: ApprovalStatus,
    /** What was to be approved has a newer revision: an approval of the older one no longer counts. */
    stale: z.boolean(),
    /** How many runs of the task had been started when it was asked for; null without a task. */
    afterAttempt: z.int().nullable(),
    requestedBy: z.uuid(),
    /** Who approved, rejected or cancelled it. */
    decidedBy: z.uuid().nullable(),
    decidedAt: UtcInstant.nullable(),
    decisionComment: z.string().nullable(),
    version: z.int(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Approval' })
export type Approval = z.infer<typeof Approval>

const tag = 'Approvals'
const byId = z.strictObject({ id: Id })
const decision = z.strictObject({ comment: Comment.optional() })

export const requestApproval = route({
  method: 'POST',
  path: '/api/v1/approvals',
  summary: 'Ask a person, or whoever holds a role, to approve a task or an artifact',
  tag,
  access: 'approvals.manage',
  statuses: [201],
  errors: [
    'not_found',
    'version_conflict',
    'task_already_completed',
    'stale_claim',
    'claim_holder_mismatch',
    'secret_refused',
  ],
  body: NewApproval,
  reply: Approval,
})

export const listApprovals = route({
  method: 'GET',
  path: '/api/v1/approvals',
  summary: 'Approvals, newest first; a page of those that concern the caller may be short',
  tag,
  access: 'approvals.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    status: ApprovalStatus.optional(),
    taskId: TaskRef.optional(),
    artifactId: Id.optional(),
    ...place,
    /** Only those addressed to the caller: as a person, or by a role held where they belong. */
    assignedToMe: queryBool.optional(),
    /** Only those that are pending and that the caller may decide. */
    decidableByMe: queryBool.optional(),
  }),
  reply: page(Approval),
})

export const getApproval = route({
  method: 'GET',
  path: '/api/v1/approvals/{id}',
  summary: 'One approval',
  tag,
  access: 'approvals.read',
  errors: ['not_found'],
  params: byId,
  reply: Approval,
})

export const approve = route({
  method: 'POST',
  path: '/api/v1/approvals/{id}:approve',
  summary: 'Say yes, once, to the revision that was asked about',
  tag,
  access: 'approvals.decide',
  errors: ['not_found', 'approval_already_decided', 'version_conflict', 'secret_refused'],
  params: byId,
  body: decision,
  reply: Approval,
})

export const reject = route({
  method: 'POST',
  path: '/api/v1/approvals/{id}:reject',
  summary: 'Say no, once',
  tag,
  access: 'approvals.decide',
  errors: ['not_found', 'approval_already_decided', 'secret_refused'],
  params: byId,
  body: decision,
  reply: Approval,
})

export const cancelApproval = route({
  method: 'POST',
  path: '/api/v1/approvals/{id}:cancel',
  summary: 'Withdraw what is pending or a gate that is stale; a gate as its author or its decider',
  tag,
  access: 'authenticated',
  errors: ['not_found', 'permission_denied', 'approval_already_decided', 'secret_refused'],
  params: byId,
  body: decision,
  reply: Approval,
})

export const routes = {
  requestApproval,
  listApprovals,
  getApproval,
  approve,
  reject,
  cancelApproval,
}
