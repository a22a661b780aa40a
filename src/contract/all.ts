import { routes as approvals } from './approvals.ts'
import { routes as artifacts } from './artifacts.ts'
import { routes as artifactUploads } from './artifact-uploads.ts'
import { routes as budgets } from './budgets.ts'
import { routes as childHandles } from './child-handles.ts'
import { routes as claims } from './claims.ts'
import { routes as configRevisions } from './config-revisions.ts'
import { routes as comments } from './comments.ts'
import { routes as context } from './context.ts'
import { routes as delegations } from './delegations.ts'
import { routes as controlMessages } from './control-messages.ts'
import { routes as erasures } from './erasures.ts'
import { routes as eventStream } from './event-stream.ts'
import { routes as events } from './events-api.ts'
import { routes as journalOperations } from './journal-operations.ts'
import { routes as externalReferences } from './external-references.ts'
import { routes as goals } from './goals.ts'
import { routes as iam } from './iam.ts'
import { routes as knowledgePacks } from './knowledge-packs.ts'
import { routes as knowledge } from './knowledge.ts'
import { routes as members } from './members.ts'
import { routes as memory } from './memory.ts'
import { routes as memoryBrain } from './memory-brain.ts'
import { routes as memoryContext } from './memory-context.ts'
import { routes as memoryDeletion } from './memory-deletion.ts'
import { routes as memoryAsk } from './memory-ask.ts'
import { routes as memoryPacks } from './memory-packs.ts'
import { routes as memoryGraph } from './memory-graph.ts'
import { routes as memoryReconcile } from './memory-reconcile.ts'
import { routes as memoryTyped } from './memory-typed.ts'
import { routes as memoryStats } from './memory-stats.ts'
import { routes as observations } from './observations.ts'
import { routes as operations } from './operations.ts'
import { routes as org } from './org.ts'
import { routes as priceTables } from './price-tables.ts'
import { routes as projectTemplates } from './project-templates.ts'
import { routes as projects } from './projects.ts'
import { routes as relations } from './relations.ts'
import { routes as runActions } from './run-actions.ts'
import { routes as runContext } from './run-context.ts'
import { routes as runStops } from './run-stops.ts'
import { routes as roles } from './roles.ts'
import { routes as runs } from './runs.ts'
import { routes as sessions } from './sessions.ts'
import { routes as skillInvocations } from './skill-invocations.ts'
import { routes as skills } from './skills.ts'
import { routes as taskTypes } from './task-types.ts'
import { routes as tasks } from './tasks.ts'
import { routes as tools } from './tools.ts'
import { routes as usageReports } from './usage-reports.ts'
import { routes as usageTotals } from './usage-totals.ts'
import { routes as webhooks } from './webhooks.ts'
import { routes as workspaceTypes } from './workspace-types.ts'
import { routes as transitions } from './transitions.ts'
import { routes as workspaces } from './workspaces.ts'

/** Every route of the control plane by its operation id: the API document, and what tests walk. */
export const controlPlaneRoutes = {
  ...org,
  ...workspaces,
  ...workspaceTypes,
  ...members,
  ...roles,
  ...delegations,
  ...iam,
  ...skills,
  ...tools,
  ...skillInvocations,
  ...projectTemplates,
  ...projects,
  ...configRevisions,
  ...sessions,
  ...taskTypes,
  ...tasks,
  ...transitions,
  ...relations,
  ...comments,
  ...externalReferences,
  ...goals,
  ...claims,
  ...runs,
  ...runActions,
  ...runStops,
  ...runContext,
  ...controlMessages,
  ...childHandles,
  ...usageReports,
  ...usageTotals,
  ...priceTables,
  ...budgets,
  ...artifacts,
  ...approvals,
  ...artifactUploads,
  ...events,
  ...eventStream,
  ...context,
  ...observations,
  ...erasures,
  ...knowledge,
  ...knowledgePacks,
  ...operations,
  ...journalOperations,
  ...webhooks,
}

/** Every route of the memory service by its operation id. */
export const memoryRoutes = {
  ...memory,
  ...memoryAsk,
  ...memoryPacks,
  ...memoryBrain,
  ...memoryContext,
  ...memoryDeletion,
  ...memoryGraph,
  ...memoryReconcile,
  ...memoryStats,
  ...memoryTyped,
}
