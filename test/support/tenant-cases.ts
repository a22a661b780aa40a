import type { CallInput } from '#client/client.ts'
import type { Route } from '#contract/route.ts'
import type { World } from './world.ts'

/** What one tenant tries on another. */
export interface TenantCall {
  /** `foreign` names a thing of the other tenant and must be 404; `own` is a request of its own. */
  kind: 'foreign' | 'own'
  input: CallInput<Route>
  /** Code with which an `own` request is refused for a reason that has to do with neither tenant. */
  refusal?: string
}

type Thing = World['thing']
type Case = (a: Thing, b: Thing) => TenantCall[]

const foreign = (input: CallInput<Route>): TenantCall => ({ kind: 'foreign', input })
const own = (input: CallInput<Route> = {}, refusal?: string): TenantCall => ({
  kind: 'own',
  input,
  ...(refusal !== undefined && { refusal }),
})

/**
 * By operation id: what tenant b sends about things of tenant a. Every place of a request that can name
 * a thing has a call of its own, with everything else in order.
 */
export const TENANT_CASES: Readonly<Record<string, Case>> = {
  bootstrap: () => [],
  getMe: () => [own()],
  createPrincipal: () => [own({ body: { kind: 'agent', displayName: 'other' } })],
  listPrincipals: () => [own()],
  getPrincipal: (a) => [foreign({ params: { id: a.principal } })],
  updatePrincipal: (a) => [
    foreign({ params: { id: a.principal }, ifMatch: 1, body: { displayName: 'taken' } }),
  ],
  createApiKey: (a) => [
    foreign({ params: { id: a.principal }, body: { name: 'x', permissions: ['tasks.read'] } }),
  ],
  listApiKeys: (a) => [foreign({ params: { id: a.principal } })],
  revokeApiKey: (a) => [foreign({ params: { id: a.apiKey } })],
  createWorkspace: (a) => [
    foreign({ body: { slug: 'below', name: 'Below', parentId: a.root } }),
    own({ body: { slug: 'other', name: 'Other' } }),
  ],
  listWorkspaces: (a) => [
    own(),
    own({ query: { cursor: a.workspaceCursor } }),
    foreign({ query: { parentId: a.root } }),
  ],
  getWorkspaceTree: (a) => [own(), foreign({ query: { rootId: a.root } })],
  getWorkspace: (a) => [foreign({ params: { id: a.workspace } })],
  updateWorkspace: (a) => [
    foreign({ params: { id: a.workspace }, ifMatch: 1, body: { name: 'taken' } }),
  ],
  archiveWorkspace: (a) => [foreign({ params: { id: a.workspace } })],
  getAdapterStatus: () => [own()],
  redriveAdapter: (a) => [foreign({ params: { tenantId: a.tenantId }, body: { reason: 'try' } })],
  rebuildAdapter: (a) => [foreign({ params: { tenantId: a.tenantId }, body: { reason: 'try' } })],
}
