import { z } from 'zod'
import type { queryEntities as contract } from '#contract/memory-reconcile.ts'
import type { Database } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { plainInstant } from '#lib/instant.ts'
import { canonicalJson } from '#lib/json.ts'
import { sha256 } from '#lib/id.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { readScopeOf } from '../recall/read-scope.ts'
import { shown } from '../shown.ts'
import { selectEntities, selectHasItem } from './entity.sql.ts'
import type { EntityRow } from './entity.sql.ts'
import { testsOf } from '../where.ts'

type Query = z.output<(typeof contract)['body']>
type Page = z.output<(typeof contract)['reply']>

const MAX_NAMESPACES = 50

/**
 * One page of the entities of some kinds that satisfy every condition, as they were at a moment, in the
 * order of kind, key and namespace. A cursor goes on with the query that it came from, nothing else.
 */
export async function queryEntities(
  db: Database,
  ctx: MemoryCtx,
  { body, defaultNamespace }: { body: Query; defaultNamespace: string },
): Promise<Page> {
  const tests = testsOf(body.where)
  const request = { ...body, scope: scopeOf(body), scopes: [] }
  const { names, namespaces, reader } = await readScopeOf(db, ctx, request, defaultNamespace)
  const origin = originOf(body, names)
  const ids = namespaces.map(({ id }) => id)
  const after = body.cursor ? readCursor(body.cursor, origin) : undefined
  if (after && !(ids.includes(after.namespaceId) && (await selectHasItem(db, after)))) {
    throw foreignCursor()
  }
  const rows = await selectEntities(db, {
    namespaceIds: ids,
    kinds: body.kinds,
    tests,
    reader,
    after,
    limit: body.limit + 1,
  })
  const page = rows.slice(0, body.limit)
  const last = page.at(-1)
  const nameOf = new Map(namespaces.map(({ id, namespace }) => [id, namespace]))
  return {
    items: page.map((row) => itemOf(row, nameOf.get(row.namespaceId) ?? '')),
    nextCursor: last && rows.length > page.length ? writeCursor(last, origin) : null,
  }
}

/** Namespaces may be named in `scope` and beside it. */
function scopeOf({ scope, namespaces = [] }: Query) {
  const all = [...(scope?.namespaces ?? []), ...namespaces]
  if (all.length > MAX_NAMESPACES) throw tooMany()
  return { ...scope, namespaces: all }
}

function originOf({ kinds, where, as_of: asOf }: Query, names: readonly string[]): string {
  return sha256(canonicalJson([names, kinds, where, asOf ?? null])).slice(0, 16)
}

function itemOf(row: EntityRow, namespace: string): Page['items'][number] {
  return {
    ...shown({
      kind: row.kind,
      key: row.key,
      title: row.title,
      attributes: row.properties,
      aliases: row.aliases,
      source_path: row.sourcePath,
      provenance: row.provenance,
    }),
    namespace,
    valid_from: plainInstant(row.validFrom),
    valid_to: row.validTo === null ? null : plainInstant(row.validTo),
  }
}

const Cursor = z.tuple([z.string(), z.string().regex(/^\d{1,18}$/), z.int().min(1)])

function writeCursor({ namespaceId, item }: EntityRow, origin: string): string {
  return Buffer.from(JSON.stringify([origin, namespaceId, item])).toString('base64url')
}

function readCursor(cursor: string, origin: string): { namespaceId: string; item: number } {
  let json: unknown
  try {
    json = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw foreignCursor()
  }
  const result = Cursor.safeParse(json)
  if (!result.success || result.data[0] !== origin) throw foreignCursor()
  return { namespaceId: result.data[1], item: result.data[2] }
}

function foreignCursor(): AppError {
  return new AppError('invalid_request', 'Cannot go on: the cursor is not of this query', {
    details: { errors: [{ loc: 'body.cursor', message: 'is not of this query' }] },
  })
}

function tooMany(): AppError {
  return new AppError('invalid_request', `Cannot read more than ${MAX_NAMESPACES} namespaces`, {
    details: { errors: [{ loc: 'body.namespaces', message: `must be at most ${MAX_NAMESPACES}` }] },
  })
}
