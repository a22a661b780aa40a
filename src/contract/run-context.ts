import { z } from 'zod'
import { Artifact } from './artifacts.ts'
import { ChildHandle } from './child-handles.ts'
import { Claim } from './claims.ts'
import { Id, JsonObject } from './common.ts'
import { ApprovalView, SkillView } from './context.ts'
import { ControlMessage } from './control-messages.ts'
import { route } from './route.ts'
import { Checkpoint, InstructionsRef, Run } from './runs.ts'
import { Task } from './tasks.ts'
import { Workspace } from './workspaces.ts'

/** One thing that earlier work hands to this task. */
const RunInput = z.strictObject({
  /** Names the input within the task. */
  key: z.string(),
  type: z.string(),
  name: z.string(),
  artifactId: z.uuid(),
  sourceTaskId: z.uuid(),
  sourceTaskPublicId: z.string(),
  /** How this task relates to the source. */
  relation: z.string(),
  mediaType: z.string().nullable(),
  sizeBytes: z.int().nullable(),
  uri: z.string().nullable(),
})

const RelatedTask = z.strictObject({
  id: z.uuid(),
  type: z.string(),
  /** `out`: this task to the other; `in`: the other to this one. */
  direction: z.enum(['out', 'in']),
  taskId: z.uuid(),
  taskPublicId: z.string(),
  taskTitle: z.string(),
  taskStatus: z.string(),
})

export const RunContext = z
  .strictObject({
    run: Run,
    task: Task,
    workspace: Workspace.nullable(),
    claim: Claim,
    requirements: JsonObject,
    relations: z.array(RelatedTask),
    /** The newest 20 of the task, for readers of artifacts; else empty. */
    recentArtifacts: z.array(Artifact),
    /** The newest revisions of what the tasks produced that this one depends on, at most 100. */
    inputs: z.array(RunInput),
    /** Of the task, for readers of approvals; else empty. */
    pendingApprovals: z.array(ApprovalView),
    /** Of every run of the task, oldest first; the newest 500. */
    checkpoints: z.array(z.strictObject({ ...Checkpoint.shape, attempt: z.int() })),
    /** What the holder of the run can execute. */
    skills: z.array(SkillView),
    /** To be acknowledged in this order. */
    pendingControlMessages: z.array(ControlMessage),
    /** Of every run of the task, oldest first; the newest 200. */
    childHandles: z.array(ChildHandle),
    /** Taken before everything else here was read: what changes meanwhile is seen twice, never missed. */
    eventCursor: z.string(),
    /** As they apply now; `run.instructionsHash` tells whether that was so at the start. */
    instructions: z.strictObject({
      layers: z.array(z.strictObject({ ...InstructionsRef.shape, text: z.string() })),
      /** SHA-256 of the layers as JSON with sorted keys and no white space. */
      hash: z.string(),
    }),
  })
  .meta({ id: 'RunContext' })
export type RunContext = z.output<typeof RunContext>

export const getRunContext = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/context',
  summary: 'Everything that a run goes by, in one consistent view',
  tag: 'Runs',
  access: 'tasks.read',
  errors: ['not_found'],
  params: z.strictObject({ id: Id }),
  reply: RunContext,
})

export const routes = { getRunContext }
