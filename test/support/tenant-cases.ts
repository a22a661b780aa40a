import { randomUUID } from 'node:crypto'
import { COMMON } from './world.ts'
import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'
import { ACCESS_CASES } from './tenant-cases-access.ts'
import { ACCOUNTING_CASES } from './tenant-cases-accounting.ts'
import { APPROVAL_CASES } from './tenant-cases-approvals.ts'
import { ARTIFACT_CASES } from './tenant-cases-artifacts.ts'
import { PROJECT_CASES } from './tenant-cases-projects.ts'
import { TASKS_CASES } from './tenant-cases-tasks.ts'
import { WEBHOOK_CASES } from './tenant-cases-webhooks.ts'

/**
 * By operation id: what tenant b sends about things of tenant a. Every place of a request that can name
 * a thing has a call of its own, with everything else in order.
 */
export const TENANT_CASES: Readonly<Record<string, Case>> = {
  bootstrap: () => [],
  getMe: () => [look()],
  createPrincipal: () => [own({ body: { kind: 'agent', displayName: 'other' } })],
  listPrincipals: () => [look()],
  getPrincipal: (a) => [foreign({ params: { id: a.principal } })],
  updatePrincipal: (a) => [
    foreign({ params: { id: a.principal }, ifMatch: 1, body: { displayName: 'taken' } }),
  ],
  createApiKey: (a, b) => [
    foreign({
      params: { id: b.principal },
      body: { name: 'x', permissions: ['tasks.read'], workspaceId: a.root },
    }),
    foreign({ params: { id: a.principal }, body: { name: 'x', permissions: ['tasks.read'] } }),
  ],
  listApiKeys: (a) => [foreign({ params: { id: a.principal } })],
  revokeApiKey: (a) => [foreign({ params: { id: a.apiKey } })],
  createWorkspace: (a) => [
    foreign({ body: { slug: 'below', name: 'Below', parentId: a.root } }),
    foreign({ body: { slug: 'typed', name: 'Typed', typeKey: a.workspaceType } }),
    own({ body: { slug: 'other', name: 'Other' } }),
  ],
  listWorkspaces: (a) => [
    look(),
    look({ query: { cursor: a.workspaceCursor } }),
    foreign({ query: { parentId: a.root } }),
  ],
  getWorkspaceTree: (a) => [look(), foreign({ query: { rootId: a.root } })],
  getWorkspace: (a) => [foreign({ params: { id: a.workspace } })],
  updateWorkspace: (a, b) => [
    foreign({ params: { id: a.workspace }, ifMatch: 1, body: { name: 'taken' } }),
    foreign({ params: { id: b.workspace }, ifMatch: 1, body: { typeKey: a.workspaceType } }),
  ],
  moveWorkspace: (a, b) => [
    foreign({ params: { id: a.workspace }, body: { parentId: null } }),
    foreign({ params: { id: b.workspace }, body: { parentId: a.root } }),
  ],
  archiveWorkspace: (a) => [foreign({ params: { id: a.workspace } })],
  createWorkspaceType: (a) => [
    own({ body: { key: 'other', displayName: 'Other' } }),
    foreign({ body: { key: 'below', displayName: 'Below', parentTypes: [a.workspaceType] } }),
  ],
  listWorkspaceTypes: () => [look()],
  getWorkspaceType: (a) => [foreign({ params: { key: a.workspaceType } })],
  updateWorkspaceType: (a, b) => [
    foreign({ params: { key: a.workspaceType }, ifMatch: 1, body: { displayName: 'taken' } }),
    foreign({
      params: { key: b.workspaceType },
      ifMatch: 1,
      body: { parentTypes: [a.workspaceType] },
    }),
  ],
  ...ACCESS_CASES,
  ...APPROVAL_CASES,
  ...PROJECT_CASES,
  ...TASKS_CASES,
  ...WEBHOOK_CASES,
  ...ACCOUNTING_CASES,
  getAdapterStatus: () => [look()],
  redriveAdapter: (a) => [foreign({ params: { tenantId: a.tenantId }, body: { reason: 'try' } })],
  getJournalStatus: () => [look()],
  archiveJournal: () => [],
  pruneJournal: () => [],
  rebuildAdapter: (a) => [foreign({ params: { tenantId: a.tenantId }, body: { reason: 'try' } })],

  openSession: (a) => [
    own({ body: { clientName: 'other' } }),
    foreign({ body: { clientName: 'other', onBehalfOf: a.principal } }, 'delegation_required'),
  ],
  listSessions: () => [look()],
  getSession: (a) => [foreign({ params: { id: a.session } })],
  heartbeatSession: (a) => [foreign({ params: { id: a.session } })],
  closeSession: (a) => [foreign({ params: { id: a.session } })],

  createTask: (a) => [
    own({ body: { title: 'other' } }),
    foreign({ body: { title: 'other', typeKey: a.newTaskType.key } }),
    foreign({ body: { title: 'other', goalId: a.goal } }),
    ...[{ workspaceId: a.workspace }, { ownerId: a.principal }, { assigneeId: a.principal }].map(
      (place) => foreign({ body: { title: 'other', ...place } }),
    ),
  ],
  listTasks: (a) => [
    look(),
    look({ query: { cursor: a.taskCursor } }),
    own({ query: { assigneeId: a.principal } }),
    foreign({ query: { workspaceId: a.workspace } }),
    foreign({ query: { workspaceId: a.root, includeDescendants: 'true' } }),
    foreign({ query: { projectId: a.project } }),
    foreign({ query: { goalId: a.goal } }),
  ],
  getTask: (a) => [foreign({ params: { ref: a.task } }), foreign({ params: { ref: a.lastTask } })],
  updateTask: (a, b) => [
    foreign({ params: { ref: a.freeTask }, ifMatch: 1, body: { title: 'taken' } }),
    foreign({ params: { ref: b.freeTask }, ifMatch: 1, body: { goalId: a.goal } }),
    ...[{ workspaceId: a.workspace }, { ownerId: a.principal }, { assigneeId: a.principal }].map(
      (body) => foreign({ params: { ref: b.freeTask }, ifMatch: 1, body }),
    ),
    foreign({ params: { ref: b.task }, ifMatch: 1, body: { title: 'taken', ...a.fence } }),
  ],
  completeTask: (a, b) => [
    foreign({ params: { ref: a.freeTask }, ifMatch: 1 }),
    foreign({ params: { ref: b.task }, ifMatch: 1, body: a.fence }),
  ],

  getClaimability: (a) => [foreign({ params: { ref: a.freeTask } })],
  listAvailableWork: (a) => [
    look(),
    foreign({ query: { projectId: a.project, includeSubprojects: 'true' } }),
    own({ query: { assigneeId: a.principal } }),
    foreign({ query: { workspaceId: a.workspace } }),
    foreign({ query: { projectId: a.project } }),
  ],

  claimTask: (a, b) => [
    foreign({ params: { ref: a.freeTask }, body: { sessionId: b.session } }),
    foreign({ params: { ref: b.freeTask }, body: { sessionId: a.session } }),
  ],
  getClaim: (a) => [foreign({ params: { id: a.claim } })],
  heartbeatClaim: (a) => [foreign({ params: { id: a.claim }, body: { fencingToken: 1 } })],
  releaseClaim: (a) => [foreign({ params: { id: a.claim }, body: { fencingToken: 1 } })],
  reclaimClaim: (a) => [foreign({ params: { id: a.claim } })],

  startRun: (a, b) => [
    foreign({ params: { ref: a.task }, body: b.fence }),
    foreign({ params: { ref: b.task }, body: a.fence }),
  ],
  getRun: (a) => [foreign({ params: { id: a.run } })],
  listRuns: (a) => [look(), foreign({ query: { taskId: a.task } })],
  recordCheckpoint: (a) => [
    foreign({ params: { id: a.run }, body: { fencingToken: 1, kind: 'note', data: {} } }),
  ],
  listCheckpoints: (a) => [foreign({ params: { id: a.run } })],
  succeedRun: (a) => [foreign({ params: { id: a.run }, body: { fencingToken: 1 } })],
  failRun: (a) => [foreign({ params: { id: a.run }, body: { reason: 'taken' } })],
  cancelRun: (a) => [foreign({ params: { id: a.run } })],
  getRunContext: (a) => [foreign({ params: { id: a.run } })],
  suspendRun: (a, b) => [
    foreign({ params: { id: a.run }, body: { fencingToken: 1, reason: 'taken' } }),
    foreign({
      params: { id: b.run },
      body: { fencingToken: 1, reason: 'waiting', waitingForApprovalId: a.approval },
    }),
  ],
  handOffRun: (a) => [
    foreign({
      params: { id: a.run },
      idempotencyKey: randomUUID(),
      body: { fencingToken: 1, checkpoint: { data: { summary: 'taken' } } },
    }),
  ],
  requestCancel: (a) => [foreign({ params: { id: a.run } })],
  recordAction: (a) => [
    foreign({ params: { id: a.run }, body: { fencingToken: 1, action: 'taken' } }),
  ],
  finishAction: (a, b) =>
    [
      { id: a.run, actionId: a.action },
      { id: b.run, actionId: a.action },
    ].map((params) => foreign({ params, body: { fencingToken: 1, status: 'failed' } })),
  listActions: (a) => [foreign({ params: { id: a.run } })],
  sendControlMessage: (a) => [
    foreign({
      params: { id: a.run },
      idempotencyKey: randomUUID(),
      body: { kind: 'steer', message: 'taken', expectedRunVersion: 1 },
    }),
  ],
  acknowledgeControlMessage: (a, b) =>
    [
      { id: a.run, messageId: a.message },
      { id: b.run, messageId: a.message },
    ].map((params) => foreign({ params, body: { fencingToken: 1, status: 'rejected' } })),
  listControlMessages: (a) => [foreign({ params: { id: a.run } })],
  createChildHandle: (a) => [
    foreign({
      params: { id: a.run },
      idempotencyKey: randomUUID(),
      body: {
        fencingToken: 1,
        correlationId: 'child',
        title: 'taken',
        grant: { permissions: ['tasks.claim'] },
      },
    }),
  ],
  listChildHandles: (a) => [foreign({ params: { id: a.run } })],
  getChildHandle: (a) => [foreign({ params: { id: a.child } })],
  revokeChildHandle: (a) => [foreign({ params: { id: a.child } })],

  ...ARTIFACT_CASES,

  listEvents: (a) => [
    look({ query: { limit: '200' } }),
    look({ query: { tail: '200' } }),
    look({ query: { entityType: 'task', entityId: a.task } }),
    foreign({ query: { cursor: a.eventCursor } }, 'restore_detected'),
    foreign({ query: { before: a.eventCursor } }, 'restore_detected'),
    own({ query: { actorId: a.principal } }),
    foreign({ query: { workspaceId: a.workspace } }),
  ],
  streamEvents: (a) => [
    look({ query: { closeAfterSeconds: '0' } }),
    look({ query: { tail: '200', closeAfterSeconds: '0' } }),
    own({ query: { actorId: a.principal, closeAfterSeconds: '0' } }),
    foreign({ query: { cursor: a.eventCursor, closeAfterSeconds: '0' } }, 'restore_detected'),
    foreign({ query: { workspaceId: a.workspace, closeAfterSeconds: '0' } }),
  ],
  streamEventsBySocket: (a) => [
    foreign({ query: { cursor: a.eventCursor } }, 'restore_detected'),
    foreign({ query: { actorId: a.principal } }, 'upgrade_required'),
    foreign({ query: { workspaceId: a.workspace } }),
  ],
  getHarnessContext: (a) => [look(), foreign({ query: { sessionId: a.session } })],
  getContext: (a, b) => [
    look(),
    look({ body: { query: COMMON } }),
    look({ body: { query: COMMON, task: b.task } }),
    look({ body: { query: COMMON, strategy: 'briefing' } }),
    ...[
      { task: a.task },
      { task: a.lastTask },
      { runId: a.run },
      { workspaceId: a.workspace },
      { projectId: a.project },
    ].map((focus) => foreign({ body: focus })),
  ],
  recordObservation: (a) => [
    own({ body: { kind: 'note', content: 'other', source: 's', dedupKey: 'k' } }),
    ...[
      { task: a.task },
      { task: a.lastTask },
      { runId: a.run },
      { workspaceId: a.workspace },
      { sessionId: a.session },
      { supersedes: a.observation },
    ].map((place) => foreign({ body: { kind: 'note', content: 'other', ...place } })),
  ],
  eraseObservation: (a) => [foreign({ params: { id: a.observation } })],
  getObservation: (a) => [foreign({ params: { id: a.observation } })],
  reconcileSnapshot: (a, b) => [
    own({ body: { ...b.snapshot, snapshotId: '2' } }),
    foreign({ body: { ...a.snapshot, snapshotId: '2' } }),
  ],
  previewSnapshot: (a, b) => [
    own({ body: { ...b.snapshot, snapshotId: '3', entities: [], allowEmpty: true } }),
    foreign({ body: { ...a.snapshot, snapshotId: '3' } }),
  ],
  storeDocument: (a, b) => [
    own({ body: { ...b.document, content: 'other' } }),
    foreign({ body: { ...a.document, content: 'taken' } }),
  ],
  deleteDocument: (a, b) => [own({ body: b.document }), foreign({ body: a.document })],
  registerKnowledgePack: (_, b) => [
    own({ body: { scope: 'tenant', name: `pack-${b.workspace}`, version: '1' } }),
  ],
  putKnowledgePacks: (a, b) => [
    own({ params: { id: b.root }, body: { packs: [], strict: false } }),
    foreign({ params: { id: a.workspace }, body: { packs: [], strict: true } }),
  ],
  getKnowledgePacks: (a, b) => [
    look({ params: { id: b.workspace } }),
    foreign({ params: { id: a.workspace } }),
  ],
  queryEntities: (a, b) => [
    look({ body: { workspaceId: b.workspace, kinds: ['file'] } }),
    foreign({ body: { workspaceId: a.workspace, kinds: ['file'] } }),
  ],
}
