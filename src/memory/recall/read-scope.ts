import type { Sql } from '#db/sql.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { audienceIn } from '../access/sight.ts'
import type { Narrowing } from '../access/sight.ts'
import { selectNamespaces } from './lexical.sql.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import { relevanceOf } from './reader.ts'
import type { Reader } from './reader.ts'

/** The parts of a request that say where and as whom it reads. */
export interface ReadRequest extends Narrowing {
  scope?: { namespace?: string | undefined; namespaces?: string[] | undefined } | undefined
  scopes: readonly string[]
  as_of?: string | null | undefined
  known_at?: string | null | undefined
}

export interface ReadScope {
  /** Names as asked for; some may never have been written to. */
  names: readonly string[]
  namespaces: NamespaceRow[]
  reader: Reader
}

/**
 * Where a request reads and what it may see there. Every namespace asked for must be open to the caller
 * and within the request's own narrowing, else `permission_denied` naming the first that is not.
 */
export async function readScopeOf(
  sql: Sql,
  ctx: MemoryCtx,
  request: ReadRequest,
  defaultNamespace: string,
): Promise<ReadScope> {
  const { scope = {} } = request
  const asked = [
    ...(scope.namespaces ?? []),
    ...(scope.namespace === undefined ? [] : [scope.namespace]),
  ]
  const names = asked.length === 0 ? [defaultNamespace] : [...new Set(asked)]
  const audience = await audienceIn(ctx, 'read', names, request)
  return {
    names,
    namespaces: await selectNamespaces(sql, names),
    reader: {
      audience,
      asOf: request.as_of ?? null,
      knownAt: request.known_at ?? null,
      relevance: relevanceOf(request.scopes),
    },
  }
}
