import type { Sql } from '#db/sql.ts'
import { requireRight } from '../access/caller.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { AppError } from '#lib/errors.ts'
import { audienceFor } from '../visibility.ts'
import { selectNamespaces } from './lexical.sql.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import { relevanceOf } from './reader.ts'
import type { Reader } from './reader.ts'

/** The parts of a request that say where and as whom it reads. */
export interface ReadRequest {
  scope?: { namespace?: string | undefined; namespaces?: string[] | undefined } | undefined
  scopes: readonly string[]
  allowed_namespaces?: readonly string[] | null | undefined
  allowed_scopes?: readonly string[] | null | undefined
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
 * Where a request reads and what it may see there. Every namespace asked for must be within the caller's
 * grants and within the request's own narrowing, else `permission_denied` naming the first that is not.
 */
export async function readScopeOf(
  sql: Sql,
  ctx: MemoryCtx,
  request: ReadRequest,
  defaultNamespace: string,
): Promise<ReadScope> {
  const { scope = {}, allowed_namespaces: allowed } = request
  const asked = [
    ...(scope.namespaces ?? []),
    ...(scope.namespace === undefined ? [] : [scope.namespace]),
  ]
  const names = asked.length === 0 ? [defaultNamespace] : [...new Set(asked)]
  requireRight(ctx, 'read', names)
  const outside = allowed ? names.find((name) => !allowed.includes(name)) : undefined
  if (outside !== undefined) {
    throw new AppError(
      'permission_denied',
      `Cannot read namespace "${outside}": it is not allowed`,
      {
        details: { namespace: outside },
      },
    )
  }
  return {
    names,
    namespaces: await selectNamespaces(sql, names),
    reader: {
      audience: audienceFor(request.allowed_scopes),
      asOf: request.as_of ?? null,
      knownAt: request.known_at ?? null,
      relevance: relevanceOf(request.scopes),
    },
  }
}
