import type { Sql } from '#db/sql.ts'
import { readThrough, sharedReads } from '#lib/read-through.ts'
import { audienceFor } from '../visibility.ts'
import type { Right, Seen } from './caller.ts'
import { selectWorkspaces } from './workspace.sql.ts'

/** Who holds an access token, as its issuer says. */
export interface Holder {
  issuer: string
  id: string
  kind: string
  tenantId: string | null
}

/** Something that a decision is about, with what a decision point without data of its own has to know. */
export interface Candidate {
  id: string
  properties: { tenantId: string; workspaceIds: string[] }
}

export interface Wish {
  action: `memory.${Right}`
  type: 'memory_namespace' | 'workspace'
  tenantId: string
  candidates: readonly Candidate[]
}

/** Asks a decision point on which of the candidates the holder may act. Throws `policy_unavailable`. */
export type SearchPolicy = (holder: Holder, wish: Wish) => Promise<readonly string[]>

export interface PolicySettings {
  search: SearchPolicy
  /** How long an answer is kept, in seconds. */
  cacheSeconds: number
  now?: () => number
}

/** Answers what a holder sees in some namespaces. */
export type Decider = (holder: Holder, right: Right, names: readonly string[]) => Promise<Seen>

/**
 * Lets a decision point say which of the namespaces are open to people and agents, and which workspaces
 * inside them. What is their own is open without asking: the namespace named after them, and items that
 * only they may see. An answer is kept for a few seconds; what is new is asked about at once.
 */
export function policyDecider(sql: Sql, settings: PolicySettings): Decider {
  const { search, cacheSeconds, now = Date.now } = settings
  const kept = readThrough<readonly string[]>(
    { freshSeconds: cacheSeconds, staleSeconds: cacheSeconds },
    now,
    (ids) => 1 + ids.length / IDS_PER_WEIGHT,
  )
  const once = sharedReads<readonly string[] | undefined>()
  const found = async (holder: Holder, wish: Wish) => {
    if (wish.candidates.length === 0) return []
    const key = JSON.stringify([
      holder,
      wish.action,
      wish.type,
      wish.candidates.map(({ id }) => id),
    ])
    return (await once(key, () => kept(key, () => search(holder, wish)))) ?? []
  }
  return async (holder, right, names) => {
    const action = `memory.${right}` as const
    const own = `principal:${holder.id}`
    const open = new Set(names.filter((name) => isPrivate(holder, name)))
    const asked = names.filter((name) => !open.has(name)).map((name) => resourceOf(holder, name))
    const scopes: string[] = [own]
    for (const tenantId of new Set(asked.map(({ properties }) => properties.tenantId))) {
      const candidates = asked.filter(({ properties }) => properties.tenantId === tenantId)
      const wish = { action, type: 'memory_namespace', tenantId, candidates } as const
      const ids = new Set(await found(holder, wish))
      for (const { id, name } of candidates) if (ids.has(id)) open.add(name)
      const visible = candidates.filter(({ id }) => ids.has(id)).map(({ name }) => name)
      const workspaces = await selectWorkspaces(sql, visible)
      const places = { action, type: 'workspace', tenantId } as const
      const allowed = await found(holder, {
        ...places,
        candidates: workspaces.map((id) => ({ id, properties: { tenantId, workspaceIds: [id] } })),
      })
      scopes.push(...allowed.map((id) => `workspace:${id}`))
    }
    return { namespaces: open, audience: audienceFor(scopes) }
  }
}

/** So many ids of a kept answer weigh as much as one more answer. */
const IDS_PER_WEIGHT = 10

function isPrivate({ tenantId, id }: Holder, name: string): boolean {
  const root = `tenant:${tenantId}:principal:${id}`
  return tenantId !== null && (name === root || name.startsWith(`${root}:`))
}

/**
 * How a decision point knows a namespace: `tenant-<id>`, `ws-<id>` and `principal-<id>` with what is below
 * them, any other by its own name.
 */
function resourceOf(holder: Holder, name: string): Candidate & { name: string } {
  const [, of, part, id = ''] = /^tenant:([^:]+)(?::(ws|principal):([^:]+))?/.exec(name) ?? []
  const tenantId = of ?? holder.tenantId ?? ''
  const place = { name, properties: { tenantId, workspaceIds: part === 'ws' ? [id] : [] } }
  if (part !== undefined) return { ...place, id: `${part}-${id}` }
  return { ...place, id: name === `tenant:${of}` ? `tenant-${of}` : name }
}
