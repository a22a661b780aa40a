import { z } from 'zod'
import { ACCOUNTING_EVENTS } from './events-accounting.ts'
import { IDENTITY_EVENTS } from './events-identity.ts'
import { SKILL_EVENTS } from './events-skills.ts'
import { WEBHOOK_EVENTS } from './events-webhooks.ts'

const id = z.uuid()
const nullableId = id.nullable()

/** What is to be approved. */
const approvalOf = { taskId: nullableId, artifactId: nullableId }

/** What has a name elsewhere, and which. */
const reference = {
  entityType: z.string(),
  entityId: id,
  system: z.string(),
  type: z.string(),
  externalId: z.string(),
}

/**
 * Every event the journal may hold, by type. An event states a fact that already happened (past
 * tense) and carries ids and small values, never whole documents: readers far outnumber the people
 * allowed to see a task's content.
 *
 * Rules: never change the meaning of a type, never remove a field; add optional fields or a new type.
 */
export const EVENTS = {
  ...IDENTITY_EVENTS,
  ...ACCOUNTING_EVENTS,
  ...SKILL_EVENTS,
  ...WEBHOOK_EVENTS,
  'workspace.created': z.strictObject({
    slug: z.string(),
    name: z.string(),
    parentId: nullableId,
  }),
  'workspace.updated': z.strictObject({ changes: z.array(z.string()), version: z.int() }),
  'workspace.moved': z.strictObject({ fromParentId: nullableId, toParentId: nullableId }),
  'workspace.archived': z.strictObject({ slug: z.string() }),
  'workspace_type.created': z.strictObject({ key: z.string(), displayName: z.string() }),
  'workspace_type.updated': z.strictObject({ changes: z.array(z.string()), version: z.int() }),
  'project_template.created': z.strictObject({
    key: z.string(),
    version: z.int(),
    displayName: z.string(),
  }),
  'project.created': z.strictObject({
    workspaceId: id,
    parentProjectId: nullableId,
    templateKey: z.string().nullable(),
    templateVersion: z.int().nullable(),
    statusKey: z.string(),
    systemStatusCategory: z.string(),
  }),
  'project.updated': z.strictObject({ changes: z.array(z.string()), version: z.int() }),
  'project.status_changed': z.strictObject({
    fromStatusKey: z.string(),
    statusKey: z.string(),
    systemStatusCategory: z.string(),
    comment: z.string().nullable(),
  }),
  'project.archived': z.strictObject({ workspaceId: id }),
  /** Configuration is never in the journal, only which revision there is and which is in force. */
  'project.config_revision_created': z.strictObject({ projectId: id, revision: z.int() }),
  'project.config_revision_activated': z.strictObject({ revision: z.int() }),
  'session.opened': z.strictObject({ clientName: z.string(), harnessType: z.string().nullable() }),
  'session.closed': z.strictObject({ releasedClaims: z.int() }),
  'session.expired': z.strictObject({ releasedClaims: z.int() }),
  'task_type.created': z.strictObject({
    key: z.string(),
    version: z.int(),
    displayName: z.string(),
  }),
  'task.created': z.strictObject({
    publicId: z.string(),
    title: z.string(),
    status: z.string(),
    priority: z.string(),
    workspaceId: nullableId,
    goalId: nullableId,
    origin: z.record(z.string(), z.unknown()).nullable(),
  }),
  'task.updated': z.strictObject({
    publicId: z.string(),
    changes: z.array(z.string()),
    version: z.int(),
  }),
  'task.claimed': z.strictObject({
    publicId: z.string(),
    claimId: id,
    sessionId: id,
    holderId: id,
    fencingToken: z.int().positive(),
    intent: z.string().nullable(),
  }),
  'task.completed': z.strictObject({ publicId: z.string(), version: z.int() }),
  'task.relation_added': z.strictObject({ relationId: id, toTaskId: id, type: z.string() }),
  'task.relation_removed': z.strictObject({
    relationId: id,
    fromTaskId: id,
    toTaskId: id,
    type: z.string(),
  }),
  'comment.created': z.strictObject({ taskId: id, runId: nullableId }),
  'comment.updated': z.strictObject({ taskId: id, version: z.int() }),
  'external_reference.added': z.strictObject(reference),
  'external_reference.removed': z.strictObject(reference),
  'goal.created': z.strictObject({
    title: z.string(),
    status: z.string(),
    workspaceId: nullableId,
    ownerId: nullableId,
    parentGoalId: nullableId,
    criteriaCount: z.int(),
    createdFrom: z.string().nullable(),
  }),
  'goal.updated': z.strictObject({
    changes: z.array(z.string()),
    fromStatus: z.string(),
    status: z.string(),
    version: z.int(),
  }),
  'claim.released': z.strictObject({ taskId: id, fencingToken: z.int(), reason: z.string() }),
  'claim.expired': z.strictObject({ taskId: id, fencingToken: z.int() }),
  'run.started': z.strictObject({ taskId: id, claimId: id, attempt: z.int() }),
  'run.checkpoint_recorded': z.strictObject({ taskId: id, kind: z.string(), sequence: z.int() }),
  'run.succeeded': z.strictObject({ taskId: id, attempt: z.int(), taskCompleted: z.boolean() }),
  'run.failed': z.strictObject({ taskId: id, attempt: z.int(), reason: z.string().nullable() }),
  'run.cancelled': z.strictObject({ taskId: id, attempt: z.int(), reason: z.string().nullable() }),
  'run.suspended': z.strictObject({
    taskId: id,
    attempt: z.int(),
    reason: z.string(),
    waitingForApprovalId: nullableId,
  }),
  /** `budget`: which one was used up, when nobody but that asked. */
  'run.cancel_requested': z.strictObject({
    taskId: id,
    attempt: z.int(),
    budget: z.string().optional(),
  }),
  /** The text of a message stands with the message alone. */
  'control_message.accepted': z.strictObject({
    taskId: id,
    runId: id,
    kind: z.string(),
    sequence: z.int(),
  }),
  'control_message.settled': z.strictObject({
    taskId: id,
    runId: id,
    kind: z.string(),
    sequence: z.int(),
    status: z.string(),
    safeBoundary: z.string().nullable(),
  }),
  /** `runId` is the parent, `taskId` the child's task. */
  'child_run.created': z.strictObject({ runId: id, taskId: id, cancellationPolicy: z.string() }),
  'child_run.revoked': z.strictObject({ runId: id, taskId: id }),
  'artifact.created': z.strictObject({
    taskId: nullableId,
    runId: nullableId,
    type: z.string(),
    name: z.string(),
    uri: z.string().nullable(),
    supersedesArtifactId: nullableId,
  }),
  'approval.requested': z.strictObject({
    ...approvalOf,
    /** Null when the artifact alone is to be approved. */
    taskRevision: z.int().nullable(),
    requiredRoleId: nullableId,
    assignedPrincipalId: nullableId,
    gate: z.boolean(),
    comment: z.string().nullable(),
  }),
  'approval.approved': z.strictObject({ ...approvalOf, comment: z.string().nullable() }),
  'approval.rejected': z.strictObject({ ...approvalOf, comment: z.string().nullable() }),
  'approval.cancelled': z.strictObject({ ...approvalOf, gate: z.boolean() }),
  /** Content, data and assertions are kept apart (they can be erased); the journal proves them. */
  'observation.recorded': z.strictObject({
    kind: z.string(),
    observedAt: z.string(),
    contentLength: z.int(),
    contentSha256: z.string(),
    visibility: z.enum(['workspace', 'private']),
    source: z.string().nullable(),
    dedupKey: z.string().nullable(),
    externalRef: z
      .strictObject({ system: z.string(), id: z.string(), url: z.string().optional() })
      .nullable(),
    taskId: nullableId,
    runId: nullableId,
    workspaceId: nullableId,
    sessionId: nullableId,
    supersedes: nullableId,
  }),
  /** What it said is gone: from the journal's side at once, from memory as soon as that confirms. */
  'observation.erased': z.strictObject({
    mode: z.enum(['redact', 'purge']),
    /** The event that recorded it. */
    recordedBy: id,
  }),
  'knowledge.snapshot_reconciled': z.strictObject({
    workspaceId: id,
    source: z.string(),
    scope: z.string(),
    snapshotId: z.string(),
    duplicate: z.boolean(),
    counters: z.record(z.string(), z.int()),
  }),
  'knowledge.changed': z.strictObject({
    workspaceId: id,
    changes: z.array(z.strictObject({ kind: z.string(), key: z.string(), change: z.string() })),
    truncated: z.boolean(),
  }),
  'knowledge.document_stored': z.strictObject({ workspaceId: id, key: z.string() }),
  'knowledge.document_deleted': z.strictObject({ workspaceId: id, key: z.string() }),
  'knowledge.pack_registered': z.strictObject({
    name: z.string(),
    version: z.string(),
    scope: z.string(),
  }),
  'knowledge.packs_chosen': z.strictObject({
    workspaceId: id,
    packs: z.array(z.string()),
    strict: z.boolean(),
  }),
  'context_adapter.redriven': z.strictObject({
    consumer: z.string(),
    wasParked: z.boolean(),
    parkedReason: z.string().nullable(),
    parkedEventId: nullableId,
    cursor: z.string(),
    reason: z.string(),
  }),
  'event_journal.archived': z.strictObject({
    fromCursor: z.string(),
    toCursor: z.string(),
    events: z.int(),
    reason: z.string(),
  }),
  'event_journal.pruned': z.strictObject({
    fromCursor: z.string(),
    toCursor: z.string(),
    events: z.int(),
    reason: z.string(),
  }),
  'context_adapter.rebuilt': z.strictObject({
    fromCursor: z.string(),
    toCursor: z.string(),
    reason: z.string(),
  }),
} as const satisfies Record<string, z.ZodType>

export type EventType = keyof typeof EVENTS
export type EventPayload<T extends EventType> = z.output<(typeof EVENTS)[T]>

/** A discriminated union: `switch (event.type)` narrows `event.payload`. */
export type NewEvent = {
  [T in EventType]: { type: T; payload: EventPayload<T> }
}[EventType] & {
  entityType: string
  entityId: string
  /** The entity's version after the change: consumers drop what is older than they have seen. */
  entityVersion: number
  /** The workspace the entity itself belongs to; it decides who may recall the event later. */
  workspaceId: string | null
  sessionId?: string | null
  causationId?: string | null
}

/** A journal row on the wire. `payload` stays open: readers must accept fields added later. */
export const JournalEvent = z
  .strictObject({
    cursor: z.string(),
    sequence: z.string(),
    txId: z.string(),
    id: z.uuid(),
    tenantId: z.uuid(),
    type: z.string(),
    schemaVersion: z.int(),
    entityType: z.string(),
    entityId: z.string(),
    entityVersion: z.int(),
    workspaceId: nullableId,
    actorId: nullableId,
    sessionId: nullableId,
    correlationId: z.string().nullable(),
    causationId: z.string().nullable(),
    requestId: z.string().nullable(),
    traceRunId: z.string().nullable(),
    iamActorId: z.string().nullable(),
    payload: z.record(z.string(), z.unknown()),
    occurredAt: z.iso.datetime(),
  })
  .meta({ id: 'JournalEvent' })
export type JournalEvent = z.infer<typeof JournalEvent>
