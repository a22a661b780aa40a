import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** Approvals, and every place that a request for one can name. */
export const APPROVAL_CASES: Readonly<Record<string, Case>> = {
  requestApproval: (a, b) => [
    own({ body: { taskId: b.freeTask, assignedPrincipalId: b.colleague } }),
    foreign({ body: { taskId: a.freeTask, assignedPrincipalId: b.colleague } }),
    foreign({ body: { artifactId: a.artifact, assignedPrincipalId: b.colleague } }),
    foreign({ body: { taskId: b.freeTask, assignedPrincipalId: a.colleague } }),
    foreign({ body: { taskId: b.freeTask, requiredRoleId: a.role } }),
    foreign({ body: { taskId: b.task, assignedPrincipalId: b.colleague, ...a.fence } }),
  ],
  listApprovals: (a) => [
    look(),
    look({ query: { cursor: a.approvalCursor } }),
    own({ query: { assignedToMe: 'true' } }),
    foreign({ query: { taskId: a.task } }),
    foreign({ query: { artifactId: a.artifact } }),
    foreign({ query: { workspaceId: a.workspace } }),
    foreign({ query: { projectId: a.project } }),
  ],
  getApproval: (a) => [foreign({ params: { id: a.approval } })],
  approve: (a) => [foreign({ params: { id: a.approval } })],
  reject: (a) => [foreign({ params: { id: a.approval } })],
  cancelApproval: (a) => [foreign({ params: { id: a.approval } })],
}
