import type { Observation } from '#contract/memory-observation.ts'
import { externalIdentity } from '#contract/observation-id.ts'
import { canonicalJson } from '#lib/json.ts'
import { sha256 } from '#lib/id.ts'
import { plainInstant } from '#lib/instant.ts'
import { privateScopes } from './visibility.ts'

/** What makes two deliveries the same observation: the sender's id for it, else its content. */
export function identityOf({ source }: Observation, hash: string): string {
  const { system, stream, external_id: externalId } = source
  return externalId === undefined ? `content|${hash}` : externalIdentity(system, stream, externalId)
}

/** SHA-256 over everything an observation says, as it was sent. */
export function contentHash(observation: Observation): string {
  const { kind, occurred_at: at, actor, subject, scopes, content, data, assertions } = observation
  return sha256(
    canonicalJson({
      kind,
      occurred_at: at ? plainInstant(at) : null,
      actor: actor ?? null,
      subject: subject ?? null,
      scopes: scopes.toSorted(),
      content: content ?? null,
      data: data ?? null,
      assertions: assertions ?? [],
    }),
  )
}

/** The scopes to store, or undefined for a private observation of nobody. */
export function storedScopes({ scopes, data, actor }: Observation): string[] | undefined {
  if (data?.['visibility'] !== 'private') return scopes
  const kept = privateScopes(scopes, actor?.id)
  return kept.some((scope) => scope.startsWith('principal:')) ? kept : undefined
}

/** What an observation says it replaces, as its sender names it. */
export function supersededHandle({ data }: Observation): string | null {
  const value = data?.['supersedes']
  return typeof value === 'string' && value !== '' && value.length <= 512 ? value : null
}

export function titleOf({ data }: Observation): string | null {
  const title = data?.['title']
  return typeof title === 'string' && title.trim() !== '' ? title.slice(0, 2000) : null
}
