import type { EntityAssertion, TextAssertion } from '#contract/memory-observation.ts'
import { canonicalJson } from '#lib/json.ts'
import { textTitle } from '../graph/project.ts'
import type { Parsed } from '../graph/project.ts'

/** What observations say about one entity: values by name (`t` is the title, `p:<name>` a property). */
export interface Share {
  values: Map<string, Set<string>>
  aliases: Set<string>
  sourcePaths: Set<string>
}

/** What assertions say, by the key they speak of. */
export type Shares = Map<string, Share>

/** The shares of an observation. */
export function sharesOf(observationId: string, parsed: readonly Parsed[]): Shares {
  const shares: Shares = new Map()
  for (const [index, one] of parsed.entries()) {
    if (!one.ok) continue
    const { assertion } = one
    if (assertion.assert === 'fact') {
      const { subject, object } = assertion.fact
      for (const { key, title } of [subject, object]) add(shares, key, { t: title })
    } else if (assertion.assert === 'text') addText(shares, observationId, index, assertion.text)
    else addEntity(shares, assertion.entity)
  }
  return shares
}

function addText(shares: Shares, observationId: string, index: number, text: TextAssertion): void {
  const { key, content, source_path: sourcePath } = text
  const said = { t: textTitle(text), 'p:content': content, 'p:observation_id': observationId }
  const { sourcePaths } = add(shares, key ?? `${observationId}:text:${index}`, said)
  if (sourcePath) sourcePaths.add(sourcePath)
}

function addEntity(shares: Shares, entity: EntityAssertion): void {
  const { key, title, properties, aliases, source_path: sourcePath } = entity
  const named = Object.entries(properties ?? {}).map(([name, value]) => [`p:${name}`, value])
  const said = { t: title?.trim() ? title : undefined, ...Object.fromEntries(named) }
  const share = add(shares, key, said)
  for (const alias of aliases ?? []) share.aliases.add(alias)
  if (sourcePath) share.sourcePaths.add(sourcePath)
}

/** Takes away what others say as well. */
export function without(shares: Shares, others: Shares): void {
  for (const [key, { values, aliases }] of shares) {
    const other = others.get(key)
    if (!other) continue
    for (const [name, said] of values) {
      for (const value of other.values.get(name) ?? []) said.delete(value)
    }
    for (const alias of other.aliases) aliases.delete(alias)
  }
}

function shareOf(shares: Shares, key: string): Share {
  const known = shares.get(key)
  if (known) return known
  const fresh = { values: new Map(), aliases: new Set<string>(), sourcePaths: new Set<string>() }
  shares.set(key, fresh)
  return fresh
}

function add(shares: Shares, key: string, said: Record<string, unknown>): Share {
  const share = shareOf(shares, key)
  for (const [name, value] of Object.entries(said)) {
    if (value === undefined || value === null) continue
    const known = share.values.get(name) ?? new Set()
    share.values.set(name, known.add(canonicalJson(value)))
  }
  return share
}
