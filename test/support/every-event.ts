import { randomBytes } from 'node:crypto'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import { sendArtifactContent } from '#contract/artifact-uploads.ts'
import * as claims from '#contract/claims.ts'
import * as journalOperations from '#contract/journal-operations.ts'
import * as knowledgePacks from '#contract/knowledge-packs.ts'
import * as knowledge from '#contract/knowledge.ts'
import { eraseObservation } from '#contract/erasures.ts'
import * as observations from '#contract/observations.ts'
import * as operations from '#contract/operations.ts'
import * as org from '#contract/org.ts'
import * as runActions from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { walkAccounting } from './every-event-accounting.ts'
import { walkApprovals } from './every-approval-event.ts'
import { walkAccess, walkTypes } from './every-event-access.ts'
import * as workspaces from '#contract/workspaces.ts'
import { walkSuspensions } from './every-event-runs.ts'
import { walkTask, walkTaskTypes } from './every-task-event.ts'
import { walkProject } from './every-project-event.ts'
import { walkWebhooks } from './every-webhook-event.ts'
import { announcedText } from './upload.ts'
import type { Walk } from './walk.ts'

/** Words that stand in one field each, so that wherever one turns up it tells where it came from. */
export interface Needles {
  /** Of fields that memory is told, by place. */
  leave: Map<string, string>
  /** Of fields that never leave the control plane through the journal. */
  stay: Map<string, string>
}

/**
 * Does through the API, as the admin of a tenant, everything that leaves an event, but for what happens
 * when a lease ends by itself; every free field holds a needle. Answers what was left to expire.
 */
export async function makeEveryEvent(
  client: ClientOptions,
): Promise<{ needles: Needles; expiring: { claimId: string; sessionId: string } }> {
  const needles: Needles = { leave: new Map(), stay: new Map() }
  const walk: Walk = {
    make: (route, input) => call(client, route, input),
    told: sow(needles.leave),
    kept: sow(needles.stay),
  }
  const workspaceId = await walkOrg(walk)
  await walkAccess(walk, workspaceId)
  await walkProject(walk, workspaceId)
  await walkTaskTypes(walk)
  const task = await walkTask(walk, workspaceId)
  const work = await walkRuns(walk, task.publicId)
  await walkArtifacts(walk, { ...work, taskId: task.id })
  await walkObservations(walk, { taskId: task.id, workspaceId })
  await walkKnowledge(walk, workspaceId)
  await walkSuspensions(walk, work.sessionId)
  await walkEnds(walk, { ...work, taskId: task.id })
  await walkAccounting(walk, work.runId)
  await walkApprovals(walk, client)
  await walkWebhooks(walk)
  await walkOperations(walk)
  return { needles, expiring: await leaveToExpire(walk) }
}

/** Gives out needles and notes where each one goes. */
function sow(places: Map<string, string>): (place: string) => string {
  return (place) => {
    const needle = `needle${randomBytes(9).toString('hex')}`
    places.set(place, needle)
    return needle
  }
}

async function walkOrg({ make, told, kept }: Walk): Promise<string> {
  const agent = await make(org.createPrincipal, {
    body: { kind: 'agent', displayName: told('name of a principal') },
  })
  await make(org.updatePrincipal, {
    params: { id: agent.id },
    ifMatch: agent.version,
    body: { displayName: kept('later name of a principal') },
  })
  const key = await make(org.createApiKey, {
    params: { id: agent.id },
    body: { name: kept('name of a key'), permissions: ['tasks.read'] },
  })
  await make(org.revokeApiKey, { params: { id: key.id } })
  await walkTypes({ make, told, kept })
  const add = (name: string) =>
    make(workspaces.createWorkspace, {
      body: { slug: told(`slug of ${name}`).toLowerCase(), name: told(`name of ${name}`) },
    })
  const open = await add('a workspace')
  const { id, version } = await add('a closed workspace')
  const renamed = await make(workspaces.updateWorkspace, {
    params: { id },
    ifMatch: version,
    body: { name: kept('later name of a workspace') },
  })
  await make(workspaces.moveWorkspace, { params: { id }, body: { parentId: open.id } })
  await make(workspaces.archiveWorkspace, { params: { id }, ifMatch: renamed.version })
  return open.id
}

async function walkRuns({ make, told, kept }: Walk, ref: string) {
  const session = await make(sessions.openSession, {
    body: {
      clientName: kept('client of a session'),
      clientVersion: kept('version of the client'),
      metadata: { note: kept('metadata of a session') },
      harness: {
        type: kept('type of a harness'),
        hostname: kept('host of a harness'),
        environment: kept('environment of a harness'),
      },
    },
  })
  const claim = await make(claims.claimTask, {
    params: { ref },
    body: { sessionId: session.id, intent: told('intent of a claim') },
  })
  const { id: claimId, fencingToken } = claim
  const start = async (name: string) =>
    await make(runs.startRun, {
      params: { ref },
      body: {
        claimId,
        fencingToken,
        input: { note: kept(`input of ${name}`) },
        model: kept(`model of ${name}`),
      },
    })
  const failed = await start('a failed run')
  const reason = told('reason of a failed run')
  await make(runs.failRun, { params: { id: failed.id }, body: { reason } })
  const cancelled = await start('a cancelled run')
  const why = told('reason of a cancelled run')
  await make(runs.cancelRun, { params: { id: cancelled.id }, body: { reason: why } })
  const run = await start('a run')
  await make(runs.recordCheckpoint, {
    params: { id: run.id },
    body: {
      fencingToken,
      kind: kept('kind of a checkpoint'),
      data: { note: kept('data of a checkpoint') },
    },
  })
  await make(runActions.recordAction, {
    params: { id: run.id },
    body: {
      fencingToken,
      action: kept('name of an action'),
      skill: kept('skill of an action'),
      externalReference: kept('reference of an action'),
      metadata: { note: kept('metadata of an action') },
    },
  })
  return { sessionId: session.id, claimId, fencingToken, runId: run.id, ref }
}

type Work = Awaited<ReturnType<typeof walkRuns>> & { taskId: string }

async function walkArtifacts({ make, told, kept }: Walk, { runId, fencingToken }: Work) {
  await make(artifacts.createArtifact, {
    body: {
      type: 'note',
      name: told('name of an artifact'),
      content: kept('content of an artifact'),
      metadata: { note: kept('metadata of an artifact') },
      runId,
      fencingToken,
    },
  })
  const bytes = new TextEncoder().encode(kept('content of an upload'))
  const query = { ...announcedText(bytes), mediaType: `text/${kept('media type of an upload')}` }
  const { contentRef } = await make(sendArtifactContent, { query, bytes })
  const uploaded = { type: 'log', name: 'a log', ...(contentRef !== null && { contentRef }) }
  await make(artifacts.createArtifact, { body: uploaded })
  const uri = `https://example.org/${told('address of an artifact')}`
  await make(artifacts.createArtifact, { body: { type: 'link', name: 'a link', uri } })
}

async function walkObservations(
  { make, told, kept }: Walk,
  { taskId, workspaceId }: { taskId: string; workspaceId: string },
) {
  const body = { kind: 'decision', content: told('content of an observation'), task: taskId }
  await make(observations.recordObservation, { body })
  await make(observations.recordObservation, {
    body: {
      kind: 'finding',
      content: 'A finding',
      data: { note: told('data of an observation') },
      assertions: [
        {
          assert: 'entity',
          entity: { key: `service:${told('assertion of an observation')}`, type: 'service' },
        },
      ],
      workspaceId,
      source: 'test',
      dedupKey: told('key of an observation'),
      externalRef: { system: 'tracker', id: told('reference of an observation') },
    },
  })
  const { id } = await make(observations.recordObservation, {
    body: { kind: 'note', content: kept('content that is erased') },
  })
  await make(eraseObservation, { params: { id }, query: { mode: 'purge' } })
}

async function walkKnowledge({ make, kept }: Walk, workspaceId: string) {
  const key = `doc:${kept('key of a document')}`
  const content = `# ${kept('text of a document')}`
  await make(knowledge.storeDocument, { body: { workspaceId, key, content } })
  await make(knowledge.deleteDocument, { body: { workspaceId, key } })
  const pack = { scope: 'tenant' as const, name: kept('name of a pack'), version: '1' }
  await make(knowledgePacks.registerKnowledgePack, { body: pack })
  const packs = [`tenant:${pack.name}@1`]
  await make(knowledgePacks.putKnowledgePacks, { params: { id: workspaceId }, body: { packs } })
  await make(knowledge.reconcileSnapshot, {
    body: {
      workspaceId,
      source: kept('source of a snapshot'),
      scope: kept('scope of a snapshot'),
      snapshotId: kept('id of a snapshot'),
      observedAt: '2026-01-15T10:00:00Z',
      entities: [{ kind: 'file', key: `file:${kept('entity of a snapshot')}` }],
      relations: [],
    },
  })
}

async function walkEnds({ make, kept }: Walk, { sessionId, fencingToken, runId }: Work) {
  await make(runs.succeedRun, {
    params: { id: runId },
    body: { fencingToken, output: { note: kept('output of a run') }, completeTask: true },
  })
  const { publicId: ref } = await make(tasks.createTask, { body: { title: 'Given back' } })
  const claim = await make(claims.claimTask, { params: { ref }, body: { sessionId } })
  await make(claims.releaseClaim, {
    params: { id: claim.id },
    body: { fencingToken: claim.fencingToken, reason: kept('reason of a release') },
  })
  await make(sessions.closeSession, { params: { id: sessionId } })
}

async function walkOperations({ make, kept }: Walk) {
  const { tenant } = await make(org.getMe, {})
  const params = { tenantId: tenant.id }
  const move = { maxEvents: 1, reason: kept('reason of a removal') }
  await make(journalOperations.archiveJournal, { body: move })
  const { archiveFloorCursor } = await make(journalOperations.pruneJournal, { body: move })
  await make(operations.redriveAdapter, { params, body: { reason: kept('reason of a redrive') } })
  await make(operations.rebuildAdapter, {
    params,
    body: { reason: kept('reason of a rebuild'), cursor: archiveFloorCursor ?? '' },
  })
}

async function leaveToExpire({ make }: Walk) {
  const session = await make(sessions.openSession, { body: { clientName: 'test' } })
  const { publicId: ref } = await make(tasks.createTask, { body: { title: 'Left behind' } })
  const claim = await make(claims.claimTask, { params: { ref }, body: { sessionId: session.id } })
  return { claimId: claim.id, sessionId: session.id }
}
