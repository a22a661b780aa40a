import { z } from 'zod'
import { Manifest } from './memory-packs.ts'
import { route } from './route.ts'

/** Memory's own answer, passed on as it is. */
const MemoryAnswer = z.looseObject({})

const memoryErrors = ['memory_unavailable', 'memory_disabled', 'memory_timeout'] as const

export const registerKnowledgePack = route({
  method: 'POST',
  path: '/api/v1/knowledge/packs',
  summary: 'Register a version of a domain pack, for everybody or for the tenant',
  tag: 'Knowledge',
  access: 'authenticated',
  statuses: [201, 200],
  errors: [
    'permission_denied',
    'pack_invalid',
    'pack_version_conflict',
    'pack_name_conflict',
    'kind_conflict',
    'relation_conflict',
    ...memoryErrors,
  ],
  fieldCodes: {
    name: 'pack_invalid',
    version: 'pack_invalid',
    kinds: 'pack_invalid',
    relations: 'pack_invalid',
  },
  body: z.strictObject({
    ...Manifest.shape,
    /** `tenant` for a pack that only the tenant's own workspaces can use. */
    scope: z.enum(['shared', 'tenant']).default('shared'),
  }),
  reply: MemoryAnswer,
})

const ofWorkspace = {
  path: '/api/v1/workspaces/{id}/knowledge-packs',
  tag: 'Knowledge',
  params: z.strictObject({ id: z.uuid() }),
  reply: MemoryAnswer,
} as const

export const putKnowledgePacks = route({
  ...ofWorkspace,
  method: 'PUT',
  summary: 'Choose the packs of a tree of workspaces, and whether nothing else is accepted',
  access: 'workspaces.manage',
  errors: [
    'not_found',
    'workspace_archived',
    'workspace_not_root',
    'pack_version_required',
    'pack_not_found',
    ...memoryErrors,
  ],
  body: z.strictObject({
    /** Each as `name@version` or `tenant:name@version`; the first counts most. */
    packs: z.array(z.string().min(1).max(110)).max(50),
    strict: z.boolean().default(false),
  }),
})

export const getKnowledgePacks = route({
  ...ofWorkspace,
  method: 'GET',
  summary: 'The packs of a tree of workspaces, and the kinds and relations they declare together',
  access: 'workspaces.read',
  errors: ['not_found', ...memoryErrors],
})

export const routes = { registerKnowledgePack, putKnowledgePacks, getKnowledgePacks }
