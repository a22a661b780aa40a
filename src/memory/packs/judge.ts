import { NodeKey } from '#contract/memory-common.ts'
import { AppError } from '#lib/errors.ts'
import { canonicalKind } from './catalog.ts'
import type { Catalog } from './catalog.ts'
import type { Kind } from './pack.ts'
import { fillTemplate, matchTemplate } from './template.ts'
import type { Filled } from './template.ts'

/** Something about to be written. */
export interface JudgedEntity {
  kind: string
  key: string
  /** Undefined where no attributes are told, as of an end of a fact. */
  attributes?: Readonly<Record<string, unknown>> | undefined
}

export interface JudgedRelation {
  relation: string
  fromKind: string
  toKind: string
}

/** What is wrong with an item: where in it, without values. */
export interface Misfit {
  /** Names from the item's root: `['attributes', 'size']`. */
  path: string[]
  message: string
}

/**
 * Why an entity does not fit the packs of a strict namespace; nothing where the namespace is not strict.
 * The kind is one by its canonical name.
 */
export function entityMisfits(catalog: Catalog, entity: JudgedEntity): Misfit[] {
  if (!catalog.strict) return []
  const kind = catalog.kinds.get(entity.kind)
  if (!kind) return [{ path: ['kind'], message: 'is declared by no pack of the namespace' }]
  const ofKey = keyMisfits(kind, entity.key)
  if (!entity.attributes || !kind.attributes) return ofKey
  const told = Object.entries(entity.attributes).filter(([, value]) => value !== null)
  const ofAttributes = kind.attributes(Object.fromEntries(told))
  return [
    ...ofKey,
    ...ofAttributes.map(({ path, message }) => ({ path: ['attributes', ...path], message })),
  ]
}

function keyMisfits({ key: rule }: Kind, key: string): Misfit[] {
  if (!rule) return []
  if ('check' in rule) return rule.check(key).map(({ message }) => ({ path: ['key'], message }))
  if (matchTemplate(rule.template, key)) return []
  return [{ path: ['key'], message: 'does not have the form that its kind gives keys' }]
}

/** The same for a relation between kinds by their canonical names. */
export function relationMisfits(
  catalog: Catalog,
  { relation, fromKind, toKind }: JudgedRelation,
): Misfit[] {
  if (!catalog.strict) return []
  const declared = catalog.relations.get(relation)
  if (!declared) return [{ path: ['relation'], message: 'is declared by no pack of the namespace' }]
  const { fromKinds, toKinds } = declared.declaration
  return [
    ...endMisfits(catalog, 'from', fromKind, fromKinds),
    ...endMisfits(catalog, 'to', toKind, toKinds),
  ]
}

function endMisfits(
  catalog: Catalog,
  end: 'from' | 'to',
  kind: string,
  allowed: readonly string[],
): Misfit[] {
  const message = catalog.kinds.has(kind)
    ? 'is not a kind that the relation may have here'
    : 'is declared by no pack of the namespace'
  const isAllowed =
    catalog.kinds.has(kind) &&
    (allowed.length === 0 || allowed.some((one) => canonicalKind(catalog, one) === kind))
  return isAllowed ? [] : [{ path: [end, 'kind'], message }]
}

/** The key that a kind's template makes of attributes, or the name of what it lacks. */
export function builtKey(
  { kinds }: Catalog,
  kind: string,
  attributes: Readonly<Record<string, unknown>>,
): Filled | undefined {
  const rule = kinds.get(kind)?.key
  if (!rule || !('template' in rule)) return undefined
  return fillTemplate(rule.template, (name) => textOf(attributes, name))
}

/** Further names of an entity by the templates of its kind, from its attributes and parts of its key. */
export function builtAliases(catalog: Catalog, { kind, key, attributes }: JudgedEntity): string[] {
  const rule = catalog.kinds.get(kind)
  if (!rule || rule.aliases.length === 0) return []
  const parts =
    rule.key && 'template' in rule.key ? matchTemplate(rule.key.template, key) : undefined
  return rule.aliases.flatMap((template) => {
    const filled = fillTemplate(
      template,
      (name) => textOf(attributes ?? {}, name) ?? parts?.get(name),
    )
    return filled.ok && filled.text.length <= MAX_ALIAS && NodeKey.safeParse(filled.text).success
      ? [filled.text]
      : []
  })
}

const MAX_ALIAS = 300

function textOf(attributes: Readonly<Record<string, unknown>>, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export interface ItemMisfits {
  /** Where the item stands in the request: `['entities', '3']`. */
  at: readonly string[]
  /** Its kind or relation, and its key, to find it by. */
  kind: string
  key?: string | undefined
  misfits: readonly Misfit[]
}

/** What was refused: its words are for whoever sent it. */
export type MisfitCode = 'snapshot_invalid' | 'document_invalid' | 'observation_invalid'

const MAX_NAMED = 100

/**
 * Throws with the code given when an item does not fit, naming each by its place, kind and key and never
 * a value; at most 100 of them.
 */
export function requireFitting(code: MisfitCode, items: Iterable<ItemMisfits>): void {
  const errors: Record<string, string>[] = []
  let count = 0
  for (const { at, kind, key, misfits } of items) {
    for (const { path, message } of misfits) {
      count += 1
      if (errors.length >= MAX_NAMED) continue
      const steps = [...at, ...path]
      errors.push({
        loc: ['body', ...steps].join('.'),
        pointer: steps.map((step) => `/${escapePointer(step)}`).join(''),
        kind,
        ...(key !== undefined && { key }),
        message,
      })
    }
  }
  if (count === 0) return
  throw new AppError(
    code,
    'Cannot write: the namespace is strict, and its packs do not allow this',
    { details: { errors, count, truncated: count > errors.length } },
  )
}

/** Source: RFC 6901, section 3. */
function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}
