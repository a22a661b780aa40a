import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import * as cedar from '@cedar-policy/cedar-wasm/nodejs'
import type { CedarValueJson, DetailedError, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs'
import { z } from 'zod'
import { ResourceProperties } from '#contract/authzen.ts'
import type { Evaluation } from '#contract/authzen.ts'
import { newId } from '#lib/id.ts'
import { reason, StartError } from '#lib/start-error.ts'

/** Policies of one folder, ready to be asked. */
export interface Policies {
  /** True when a policy permits it, none forbids it, and none of them fails. */
  isAllowed: (question: Evaluation) => boolean
}

const ENTITIES = 'entities.json'

interface Entity {
  uid: TypeAndId
  attrs: Record<string, CedarValueJson>
  parents: TypeAndId[]
}

const Uid = z.strictObject({ type: z.string(), id: z.string() })
const Entities = z.array(
  z.strictObject({
    uid: Uid,
    attrs: z.record(z.string(), z.unknown()).default({}),
    parents: z.array(Uid).default([]),
  }),
)

/**
 * Reads every `*.cedar` file of a folder and, if there is one, `entities.json`, which says for instance who
 * belongs to which group. Throws a StartError that names the file for anything that Cedar does not accept.
 */
export async function readPolicies(folder: string): Promise<Policies> {
  const names = await readdir(folder).catch((cause: unknown) => {
    throw new StartError(`Cannot read the policies in "${folder}": ${reason(cause)}`, { cause })
  })
  const files = names.filter((name) => name.endsWith('.cedar')).toSorted()
  if (files.length === 0) throw new StartError(`Cannot start: no *.cedar file is in "${folder}"`)
  const texts = await Promise.all(files.map((name) => readChecked(join(folder, name))))
  const known = names.includes(ENTITIES) ? await readEntities(join(folder, ENTITIES)) : []
  // Cedar keeps parsed sets by name; the name belongs to these policies alone.
  const setId = newId()
  const parsed = cedar.preparsePolicySet(setId, { staticPolicies: texts.join('\n') })
  if (parsed.type === 'failure') throw badPolicies(folder, parsed.errors)
  return { isAllowed: (question) => decide(setId, known, question) }
}

async function readChecked(path: string): Promise<string> {
  const text = await readFile(path, 'utf8')
  const parsed = cedar.checkParsePolicySet({ staticPolicies: text })
  if (parsed.type === 'failure') throw badPolicies(path, parsed.errors)
  return text
}

async function readEntities(path: string): Promise<Entity[]> {
  let json: unknown
  try {
    json = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new StartError(`Cannot read "${path}": ${reason(cause)}`, { cause })
  }
  const result = Entities.safeParse(json)
  if (!result.success) {
    const [issue] = result.error.issues
    throw new StartError(`Cannot read "${path}": ${issue?.path.join('.')} ${issue?.message}`)
  }
  const entities = result.data as Entity[]
  const checked = cedar.checkParseEntities({ entities, schema: null })
  if (checked.type === 'failure') throw badPolicies(path, checked.errors)
  return entities
}

function badPolicies(path: string, errors: readonly DetailedError[]): StartError {
  return new StartError(`Cannot read "${path}": ${errors.map(({ message }) => message).join('; ')}`)
}

/** A policy that cannot be evaluated would be left out by Cedar, also one that forbids; here it denies. */
function decide(setId: string, known: readonly Entity[], question: Evaluation): boolean {
  const { subject, action, resource, context } = question
  const principal = { type: 'Principal', id: subject.id }
  const target = { type: typeName(resource.type), id: resource.id }
  const answer = cedar.statefulIsAuthorized({
    principal,
    action: { type: 'Action', id: action.name },
    resource: target,
    context: plain(context),
    preparsedPolicySetId: setId,
    entities: merged([
      ...known,
      {
        uid: principal,
        attrs: plain({ ...subject.properties, kind: subject.type }),
        parents: [],
      },
      ...resourceEntities(target, resource.properties),
    ]),
  })
  if (answer.type === 'failure') return false
  const { decision, diagnostics } = answer.response
  return decision === 'allow' && diagnostics.errors.length === 0
}

/**
 * A resource below its workspace, that below its ancestors, the root below the tenant: so that a policy can
 * say `resource in Workspace::"..."` or `resource in Tenant::"..."`.
 */
function resourceEntities(target: TypeAndId, properties: unknown): Entity[] {
  const { data } = ResourceProperties.safeParse(properties)
  const { tenantId, workspaceIds = [] } = data ?? {}
  const tenants = tenantId === undefined ? [] : [{ type: 'Tenant', id: tenantId }]
  const line: TypeAndId[] = [...workspaceIds.map((id) => ({ type: 'Workspace', id })), ...tenants]
  const isInLine = line.some(({ type, id }) => type === target.type && id === target.id)
  const chain = isInLine ? line : [target, ...line]
  return chain.map((uid, index) => ({
    uid,
    attrs: uid === chain[0] ? plain(properties) : {},
    parents: chain.slice(index + 1, index + 2),
  }))
}

/** Entities of the same name are one: Cedar takes each but once. */
function merged(entities: readonly Entity[]): Entity[] {
  const byName = new Map<string, Entity>()
  for (const entity of entities) {
    const { type, id } = entity.uid
    const name = `${type}::${id}`
    const before = byName.get(name)
    byName.set(name, {
      uid: { type, id },
      attrs: { ...before?.attrs, ...entity.attrs },
      parents: [...(before?.parents ?? []), ...entity.parents],
    })
  }
  return [...byName.values()]
}

/** `child_handle` -> `ChildHandle`. */
function typeName(type: string): string {
  const words = type.split(/[^A-Za-z0-9]+/).filter(Boolean)
  return words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join('')
}

/** What Cedar has no value for is left out: null, fractions. */
function plain(value: unknown): Record<string, CedarValueJson> {
  const text = JSON.stringify(value ?? {}, (key, inner: unknown) => {
    if (key === 'candidates' || inner === null) return undefined
    return typeof inner === 'number' && !Number.isSafeInteger(inner) ? undefined : inner
  })
  const json: unknown = JSON.parse(text)
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json)
  return isObject ? (json as Record<string, CedarValueJson>) : {}
}
