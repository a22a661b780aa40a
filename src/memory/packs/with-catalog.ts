import type { MemoryCtx } from '../access/caller.ts'
import { inTurn } from '../serve-memory.ts'
import type { MemoryParts } from '../serve-memory.ts'
import type { Catalog } from './catalog.ts'
import { readCatalog } from './resolve-packs.ts'

/** Runs the work when the namespace has its turn, by what its packs declare at that moment. */
export function withCatalog<T>(
  { db, packs, writers }: MemoryParts,
  ctx: MemoryCtx,
  namespace: string,
  work: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  return inTurn(writers, ctx, namespace, async () => work(await readCatalog(db, packs, namespace)))
}
