import * as delegations from '#contract/delegations.ts'
import * as iam from '#contract/iam.ts'
import * as members from '#contract/members.ts'
import * as org from '#contract/org.ts'
import * as roles from '#contract/roles.ts'
import * as workspaceTypes from '#contract/workspace-types.ts'
import { walkSkills } from './every-skill-event.ts'
import type { Walk } from './walk.ts'

/** Roles, capabilities, members and delegations. */
export async function walkAccess({ make, told, kept }: Walk, workspaceId: string): Promise<void> {
  const { principal: person } = await make(org.getMe, {})
  const agent = await make(org.createPrincipal, { body: { kind: 'agent', displayName: 'worker' } })
  const { id, version } = await make(roles.createRole, {
    body: {
      slug: told('slug of a role').toLowerCase(),
      name: told('name of a role'),
      description: kept('description of a role'),
    },
  })
  const name = kept('later name of a role')
  await make(roles.updateRole, { params: { id }, ifMatch: version, body: { name } })
  const capability = await make(roles.createCapability, {
    body: {
      name: told('name of a capability').toLowerCase(),
      description: kept('description of a capability'),
    },
  })
  await make(roles.updateCapability, {
    params: { id: capability.id },
    ifMatch: capability.version,
    body: { description: kept('later description of a capability') },
  })
  const grant = { principalId: agent.id, workspaceId }
  await make(roles.assignRole, { params: { id }, body: grant })
  await make(roles.revokeRole, { params: { id }, body: grant })
  await make(roles.assignCapability, { params: { id: capability.id }, body: grant })
  await make(roles.revokeCapability, { params: { id: capability.id }, body: grant })
  await walkSkills({ make, told, kept }, grant)
  await make(members.addMember, { params: { id: workspaceId }, body: { principalId: agent.id } })
  await make(members.removeMember, { params: { id: workspaceId, principalId: agent.id } })
  const binding = await make(iam.createIamBinding, {
    params: { id: agent.id },
    body: {
      issuer: `https://${kept('issuer of an identity')}.example.org`,
      iamPrincipalId: kept('subject of an identity'),
      permissions: ['tasks.read'],
    },
  })
  await make(iam.updateIamBinding, {
    params: { id: binding.id },
    ifMatch: binding.version,
    body: { status: 'revoked' },
  })
  const delegation = await make(delegations.createDelegation, {
    body: {
      humanPrincipalId: person.id,
      agentPrincipalId: agent.id,
      permissions: ['tasks.claim'],
    },
  })
  await make(delegations.revokeDelegation, { params: { id: delegation.id } })
}

export async function walkTypes({ make, told, kept }: Walk): Promise<void> {
  const type = await make(workspaceTypes.createWorkspaceType, {
    body: {
      key: told('key of a workspace type'),
      displayName: told('name of a workspace type'),
      description: kept('description of a workspace type'),
    },
  })
  await make(workspaceTypes.updateWorkspaceType, {
    params: { key: type.key },
    ifMatch: type.version,
    body: { displayName: kept('later name of a workspace type') },
  })
}
