import { Observation } from '#contract/memory-observation.ts'
import type { ItemFault } from '#contract/memory.ts'
import { observationId } from '#contract/observation-id.ts'
import { issuePhrase } from '#lib/issue-phrase.ts'
import { observationFields } from './analysis/fields.ts'
import type { Writer } from './access/caller.ts'
import { parseAssertions } from './graph/project.ts'
import type { Parsed } from './graph/project.ts'
import { contentHash, identityOf, storedScopes, supersededHandle, titleOf } from './observation.ts'
import { redacted } from './redacted.ts'
import { sessionKeyOf } from './scopes.ts'
import type { IndexedObservation } from './store/observation.sql.ts'
import { analysedTerms } from './store/terms.ts'
import { isVisible, isVisibilityScope } from './visibility.ts'
import { toSnakeCase } from './wire.ts'

/** An observation ready to be stored, with everything that could be worked out without the database. */
export interface Prepared {
  /** Words of the text that the namespace learns with it. */
  words: readonly string[]
  index: number
  row: Omit<IndexedObservation, 'item' | 'occurredAt'> & { occurredAt: string | null }
  assertions: readonly Record<string, unknown>[]
  parsed: Parsed[]
}

export interface Target {
  namespace: string
  namespaceId: string
  writer: Writer
}

/** Judges one observation alone: what is wrong with it, or what to store. */
export function prepareObservation(
  given: unknown,
  index: number,
  target: Target,
): Prepared | { index: number; error: ItemFault } {
  const result = Observation.safeParse(toSnakeCase(Observation, given), { error: issuePhrase })
  if (!result.success) {
    const errors = result.error.issues.flatMap((issue) => {
      const path = issue.path.map(String)
      if (issue.code !== 'unrecognized_keys')
        return [{ loc: path.join('.'), message: issue.message }]
      return issue.keys.map((key) => ({ loc: [...path, key].join('.'), message: 'is not known' }))
    })
    return { index, error: invalid(errors) }
  }
  const observation = result.data
  const scopes = storedScopes(observation)
  if (scopes === undefined) {
    return { index, error: invalid([{ loc: 'actor', message: 'is needed by what is private' }]) }
  }
  if (!mayWrite(target.writer, scopes)) return { index, error: FORBIDDEN }
  return { index, ...prepared(observation, scopes, target) }
}

/** The same words whether something is out of bounds or belongs to others. */
export const FORBIDDEN: ItemFault = {
  status: 403,
  code: 'permission_denied',
  detail: 'Cannot write: it belongs to others',
}

/** Whether every audience that the scopes name is one the writer may write for. */
export function mayWrite({ audience }: Writer, scopes: readonly string[]): boolean {
  return scopes.filter(isVisibilityScope).every((scope) => isVisible([scope], audience))
}

function prepared(
  observation: Observation,
  scopes: string[],
  { namespace, namespaceId, writer }: Target,
): Omit<Prepared, 'index'> {
  const { kind } = observation
  const hash = contentHash(observation)
  const said = redacted({
    title: titleOf(observation),
    content: observation.content ?? null,
    data: observation.data ?? null,
    assertions: observation.assertions ?? [],
    provenance: observation.provenance ?? null,
  })
  const { stored, words } = analysedTerms(namespaceId, observationFields({ kind, ...said }))
  return {
    words,
    assertions: said.assertions,
    parsed: parseAssertions(said),
    row: {
      ...originOf(observation),
      ...said,
      observationId: observationId(namespace, identityOf(observation, hash)),
      kind,
      occurredAt: observation.occurred_at ?? null,
      validTo: null,
      supersedes: supersededHandle(observation),
      supersededBy: null,
      scopes,
      sessionKey: sessionKeyOf(scopes, observation.subject),
      contentHash: hash,
      status: 'received',
      statusDetail: null,
      writerVisibility: writer.allowedScopes,
      ...stored,
    },
  }
}

function originOf({ source, actor, subject }: Observation) {
  return {
    sourceSystem: source.system ?? null,
    sourceStream: source.stream ?? null,
    externalId: source.external_id ?? null,
    actorType: actor?.type ?? null,
    actorId: actor?.id ?? null,
    subjectType: subject?.type ?? null,
    subjectId: subject?.id ?? null,
  }
}

function invalid(errors: { loc: string; message: string }[]): ItemFault {
  const [first] = errors
  const detail = `Cannot record the observation: ${first?.loc} ${first?.message}`
  return { status: 400, code: 'invalid_request', detail, errors: errors.slice(0, 50) }
}
