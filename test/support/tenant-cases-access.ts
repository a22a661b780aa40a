import { newSkill } from './skills.ts'
import { CALL_CASES } from './tenant-cases-calls.ts'
import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** An identity that nobody bound yet. */
function identity() {
  return {
    issuer: 'https://issuer.example.org',
    iamPrincipalId: crypto.randomUUID(),
    permissions: ['tasks.read'],
  }
}

/** Roles, capabilities, members and delegations; see `TENANT_CASES`. */
export const ACCESS_CASES: Readonly<Record<string, Case>> = {
  addMember: (a, b) => [
    foreign({ params: { id: a.workspace }, body: { principalId: b.principal } }),
    foreign({ params: { id: b.root }, body: { principalId: a.principal } }),
  ],
  listMembers: (a) => [foreign({ params: { id: a.workspace } })],
  removeMember: (a, b) => [
    foreign({ params: { id: a.workspace, principalId: b.principal } }),
    foreign({ params: { id: b.workspace, principalId: a.principal } }),
  ],
  createRole: (a) => [
    own({ body: { slug: 'other', name: 'Other' } }),
    foreign({ body: { slug: 'other', name: 'Other', workspaceId: a.root } }),
  ],
  listRoles: (a) => [look(), foreign({ query: { workspaceId: a.workspace } })],
  getRole: (a) => [foreign({ params: { id: a.role } })],
  updateRole: (a) => [foreign({ params: { id: a.role }, ifMatch: 1, body: { name: 'taken' } })],
  ...Object.fromEntries(
    ['assignRole', 'revokeRole'].map((operationId): [string, Case] => [
      operationId,
      (a, b) =>
        [
          { id: a.role, principalId: b.principal, workspaceId: b.workspace },
          { id: b.role, principalId: a.principal, workspaceId: b.workspace },
          { id: b.role, principalId: b.principal, workspaceId: a.workspace },
        ].map(({ id, ...body }) => foreign({ params: { id }, body })),
    ]),
  ),
  listRoleAssignments: (a) => [foreign({ params: { id: a.role } })],
  createCapability: () => [own({ body: { name: 'other' } })],
  listCapabilities: () => [look()],
  getCapability: (a) => [foreign({ params: { id: a.capability } })],
  updateCapability: (a) => [
    foreign({ params: { id: a.capability }, ifMatch: 1, body: { description: 'taken' } }),
  ],
  assignCapability: (a, b) =>
    [
      { id: a.capability, principalId: b.principal, workspaceId: b.workspace },
      { id: b.capability, principalId: a.principal, workspaceId: b.workspace },
      { id: b.capability, principalId: b.principal, workspaceId: a.workspace },
    ].map(({ id, ...body }) => foreign({ params: { id }, body })),
  revokeCapability: (a, b) =>
    [
      { id: a.capability, principalId: b.principal, workspaceId: b.workspace },
      { id: b.capability, principalId: a.principal, workspaceId: b.workspace },
      { id: b.capability, principalId: b.principal, workspaceId: a.workspace },
    ].map(({ id, ...body }) => foreign({ params: { id }, body })),
  listCapabilityAssignments: (a) => [foreign({ params: { id: a.capability } })],
  registerSkill: () => [own({ body: newSkill('other') })],
  listSkills: (a) => [look(), own({ query: { name: a.skillName } })],
  getSkill: (a) => [foreign({ params: { id: a.skill } })],
  updateSkill: (a) => [
    foreign({ params: { id: a.skill }, ifMatch: 1, body: { description: 'taken' } }),
  ],
  ...Object.fromEntries(
    ['assignSkill', 'revokeSkill'].map((operationId): [string, Case] => [
      operationId,
      (a, b) =>
        [
          { id: a.skill, principalId: b.principal, workspaceId: b.workspace },
          { id: b.skill, principalId: a.principal, workspaceId: b.workspace },
          { id: b.skill, principalId: b.principal, workspaceId: a.workspace },
        ].map(({ id, ...body }) => foreign({ params: { id }, body })),
    ]),
  ),
  listSkillAssignments: (a) => [foreign({ params: { id: a.skill } })],
  listTools: (a) => [
    look(),
    look({ query: { includeUnavailable: 'true' } }),
    foreign({ query: { workspaceId: a.workspace } }),
    foreign({ query: { sessionId: a.session } }),
  ],
  getTool: (a, b) => [
    ...[a.skill, a.skillName].map((ref) => foreign({ params: { ref } }, 'tool_not_found')),
    foreign({ params: { ref: b.skill }, query: { workspaceId: a.workspace } }),
    foreign({ params: { ref: b.skill }, query: { sessionId: a.session } }),
  ],
  ...CALL_CASES,
  listPrincipalAssignments: (a) => [foreign({ params: { id: a.principal } })],
  createDelegation: (a, b) =>
    [
      { humanPrincipalId: a.person, agentPrincipalId: b.principal },
      { humanPrincipalId: b.person, agentPrincipalId: a.principal },
    ].map((pair) => foreign({ body: { ...pair, permissions: ['tasks.read'] } })),
  createIamBinding: (a, b) => [
    foreign({ params: { id: a.principal }, body: identity() }),
    foreign({ params: { id: b.principal }, body: { ...identity(), workspaceId: a.root } }),
  ],
  listIamBindings: (a) => [foreign({ params: { id: a.principal } })],
  getIamBinding: (a) => [foreign({ params: { id: a.binding } })],
  updateIamBinding: (a) => [
    foreign({ params: { id: a.binding }, ifMatch: 1, body: { permissions: ['tasks.read'] } }),
  ],
  listDelegations: (a) => [
    look(),
    own({ query: { humanPrincipalId: a.person } }),
    own({ query: { agentPrincipalId: a.principal } }),
  ],
  revokeDelegation: (a) => [foreign({ params: { id: a.delegation } })],
}
