import { Assertion } from '#contract/memory-observation.ts'
import type { EntityAssertion, FactAssertion, TextAssertion } from '#contract/memory-observation.ts'
import { AppError } from '#lib/errors.ts'
import { issuePhrase } from '#lib/issue-phrase.ts'
import { judgeAssertion, misfitPhrase } from '../packs/assertion.ts'
import type { Catalog } from '../packs/catalog.ts'
import type { Audience } from '../visibility.ts'
import { toSnakeCase } from '../wire.ts'
import { assertFact } from './assert-fact.ts'
import type { FactWrite } from './assert-fact.ts'
import type { Graph } from './graph.ts'
import { putNode } from './put-node.ts'

/** An observation as its assertions see it. */
export interface Evidence {
  observationId: string
  /** Six digits of a second. */
  occurredAt: string
  scopes: string[]
  assertions: readonly Record<string, unknown>[]
}

/** A text to be cut into chunks, which replace those of the same key. */
export interface TextWrite {
  nodeKey: string
  /** Whether the key was given, so that there may be an older text under it. */
  keyGiven: boolean
  docType: string
  title: string
  heading: string | null
  content: string
  sourcePath: string | null
  meta: Record<string, unknown>
  observationId: string
  scopes: string[]
  at: string
}

export type Parsed = { ok: true; assertion: Assertion } | { ok: false; problem: string }

export interface Projection {
  status: 'processed' | 'partially_processed' | 'failed'
  detail: string | null
  warnings: string[]
  texts: TextWrite[]
}

const MAX_DETAIL = 2000
const MAX_TITLE = 120

/** Reads assertions one by one; a faulty one tells where it is wrong, without its values. */
export function parseAssertions({ assertions }: Pick<Evidence, 'assertions'>): Parsed[] {
  return assertions.map((given) => {
    const result = Assertion.safeParse(toSnakeCase(Assertion, given), { error: issuePhrase })
    if (result.success) return { ok: true, assertion: result.data }
    const [issue] = result.error.issues
    const keys = issue?.code === 'unrecognized_keys' ? issue.keys : []
    const path = [...(issue?.path ?? []), ...keys].join('.')
    return {
      ok: false,
      problem: `${path} ${keys.length > 0 ? 'is not known' : issue?.message}`.trim(),
    }
  })
}

/** Who writes, and by which packs it is judged. */
export interface Projecting {
  writer: Audience
  catalog: Catalog
}

/**
 * Joins what an observation says to the graph, each assertion on its own: none failed is `processed`,
 * some `partially_processed`, all `failed`, with the reasons in `detail`.
 */
export function project(
  graph: Graph,
  evidence: Evidence,
  parsed: readonly Parsed[],
  { writer, catalog }: Projecting,
): Projection {
  const problems: string[] = []
  const warnings = new Set<string>()
  const texts: TextWrite[] = []
  for (const [index, one] of parsed.entries()) {
    const problem = one.ok
      ? attempt(() => {
          const { assertion, misfits } = judgeAssertion(catalog, graph, one.assertion)
          if (misfits.length > 0) return misfitPhrase(misfits)
          const outcome = apply(graph, { evidence, index, assertion }, writer)
          if (outcome.warning !== undefined) warnings.add(outcome.warning)
          if (outcome.text) texts.push(outcome.text)
          return undefined
        })
      : one.problem
    if (problem !== undefined) problems.push(`assertions.${index}: ${problem}`)
  }
  const status =
    problems.length === 0
      ? 'processed'
      : problems.length === parsed.length
        ? 'failed'
        : 'partially_processed'
  const detail =
    problems.length === 0 ? null : problems.join('; ').slice(0, MAX_DETAIL).toWellFormed()
  return { status, detail, warnings: [...warnings], texts }
}

/** The keys and facts that assertions speak of: what has to be read before {@link project}. */
export function mentions(
  evidence: Evidence,
  parsed: readonly Parsed[],
): { keys: string[]; facts: FactWrite[] } {
  const keys: string[] = []
  const facts: FactWrite[] = []
  for (const [index, one] of parsed.entries()) {
    if (!one.ok) continue
    const { assertion } = one
    if (assertion.assert === 'entity') keys.push(assertion.entity.key)
    else if (assertion.assert === 'text') keys.push(textKey(evidence, index, assertion.text))
    else {
      facts.push(factWrite(evidence, assertion.fact))
      keys.push(assertion.fact.subject.key, assertion.fact.object.key)
    }
  }
  return { keys, facts }
}

interface One {
  evidence: Evidence
  index: number
  assertion: Assertion
}

function apply(
  graph: Graph,
  { evidence, index, assertion }: One,
  writer: Audience,
): { warning?: string | undefined; text?: TextWrite } {
  if (assertion.assert === 'entity') {
    return { warning: putEntity(graph, evidence, assertion.entity, writer).warning }
  }
  if (assertion.assert === 'text') {
    return putText(graph, textWrite(evidence, index, assertion.text), writer)
  }
  assertFact(graph, factWrite(evidence, assertion.fact), writer)
  return {}
}

function putEntity(
  graph: Graph,
  { occurredAt, scopes }: Evidence,
  entity: EntityAssertion,
  writer: Audience,
) {
  const write = {
    key: entity.key,
    kind: entity.type,
    kindGiven: entity.typeGiven,
    title: entity.title,
    properties: entity.properties ?? {},
    aliases: entity.aliases ?? [],
    scopes: union(scopes, entity.scopes),
    at: occurredAt,
    isSighting: true,
    sourcePath: entity.source_path ?? null,
    confidence: entity.confidence ?? null,
  }
  return putNode(graph, write, writer)
}

function putText(graph: Graph, text: TextWrite, writer: Audience) {
  const { observationId, content, nodeKey, docType, title, scopes, at, sourcePath } = text
  const { changed, warning } = putNode(
    graph,
    {
      key: nodeKey,
      kind: docType,
      kindGiven: true,
      title,
      properties: { content, observation_id: observationId },
      aliases: [],
      scopes,
      at,
      isSighting: false,
      sourcePath,
      observationId,
    },
    writer,
  )
  return changed ? { warning, text } : { warning }
}

function factWrite(evidence: Evidence, fact: FactAssertion): FactWrite {
  return {
    subject: fact.subject,
    predicate: fact.predicate,
    object: fact.object,
    validFrom: fact.valid_from ?? null,
    validTo: fact.valid_to ?? null,
    observedAt: evidence.occurredAt,
    confidence: fact.confidence ?? 1,
    supersedes: fact.supersedes ?? null,
    attributes: fact.attributes ?? {},
    scopes: union(evidence.scopes, fact.scopes),
    sourcePath: fact.source_path ?? null,
    observationId: evidence.observationId,
  }
}

function textWrite(evidence: Evidence, index: number, text: TextAssertion): TextWrite {
  return {
    nodeKey: textKey(evidence, index, text),
    keyGiven: text.key !== undefined,
    docType: text.type ?? 'note',
    title: textTitle(text),
    heading: text.heading ?? null,
    content: text.content,
    sourcePath: text.source_path ?? null,
    meta: { ...text.meta, observation_id: evidence.observationId },
    observationId: evidence.observationId,
    scopes: union(evidence.scopes, text.scopes),
    at: evidence.occurredAt,
  }
}

/** The title given, else the first line that says something. */
export function textTitle({ title, content }: TextAssertion): string {
  if (title?.trim()) return title
  const firstLine = /\S.*/.exec(content)?.[0].trim() ?? ''
  return firstLine.slice(0, MAX_TITLE).toWellFormed()
}

function textKey({ observationId }: Evidence, index: number, { key }: TextAssertion): string {
  return key ?? `${observationId}:text:${index}`
}

function union(scopes: readonly string[], more: readonly string[] | null | undefined): string[] {
  return [...new Set([...scopes, ...(more ?? [])])]
}

function attempt(work: () => string | undefined): string | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}
