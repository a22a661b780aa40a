import { foreign, look } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** Calls of skills; see `TENANT_CASES`. */
export const CALL_CASES: Readonly<Record<string, Case>> = {
  invokeSkill: (a, b) => [
    foreign({ params: { id: a.skill } }, 'tool_not_found'),
    ...[
      { workspaceId: a.workspace },
      { sessionId: a.session },
      { runId: a.run, fencingToken: 1 },
      { runId: b.run, fencingToken: 1, approvalId: a.approval },
    ].map((body) => foreign({ params: { id: b.skill }, body })),
  ],
  listInvocations: (a) => [
    look(),
    look({ query: { claimable: 'true' } }),
    foreign({ query: { skillId: a.skill } }),
    foreign({ query: { runId: a.run } }),
  ],
  getInvocation: (a) => [foreign({ params: { id: a.invocation } })],
  claimInvocation: (a) => [foreign({ params: { id: a.invocation } })],
  heartbeatInvocation: (a) => [
    foreign({ params: { id: a.runningInvocation }, body: { fencingToken: 1 } }),
  ],
  completeInvocation: (a) => [
    foreign({ params: { id: a.runningInvocation }, body: { fencingToken: 1 } }),
  ],
  failInvocation: (a) => [
    foreign({
      params: { id: a.runningInvocation },
      body: { fencingToken: 1, error: { message: 'taken' } },
    }),
  ],
  cancelInvocation: (a) => [foreign({ params: { id: a.invocation } })],
}
