import { AppError } from '#lib/errors.ts'
import { listedAudience } from '../visibility.ts'
import type { MemoryCtx, Writer } from './caller.ts'
import { audienceIn } from './sight.ts'

interface Named {
  namespace?: string | undefined
  scope?: { namespace?: string | undefined } | string | undefined
  allowed_scopes?: readonly string[] | null | undefined
}

/**
 * The one namespace a request writes to: named in the body, in `scope` or in the query (alike where
 * named twice), else the default. Throws `invalid_request`, or `permission_denied` to whom it is closed.
 */
export async function writeTarget(
  ctx: MemoryCtx,
  fallback: string,
  body: Named,
  query: { namespace?: string | undefined } = {},
): Promise<{ namespace: string; writer: Writer }> {
  const inScope = typeof body.scope === 'object' ? body.scope.namespace : undefined
  const names = [body.namespace, inScope, query.namespace].filter((name) => name !== undefined)
  if (new Set(names).size > 1) {
    const errors = [{ loc: 'body.namespace', message: 'differs from the other namespace given' }]
    throw new AppError('invalid_request', 'Cannot write: two namespaces are named', {
      details: { errors },
    })
  }
  const namespace = names[0] ?? fallback
  const audience = await audienceIn(ctx, 'write', [namespace], body)
  return { namespace, writer: { audience, allowedScopes: listedAudience(audience) } }
}
