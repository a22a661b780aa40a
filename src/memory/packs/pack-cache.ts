import { Manifest } from '#contract/memory-packs.ts'
import type { Sql } from '#db/sql.ts'
import { compilePack } from './pack.ts'
import type { CompiledPack } from './pack.ts'
import { selectPacks, SHARED } from './pack.sql.ts'
import type { PackVersion } from './pack.sql.ts'
import { DEFAULT_PACK } from './shipped/default.ts'

const DEFAULT_REF = 'default@1'

type Id = Pick<PackVersion, 'namespaceId' | 'name' | 'version'>

/** Packs made usable, kept: a version never changes. */
export interface PackCache {
  /** The pack that every namespace has. */
  readonly builtIn: CompiledPack
  load: (sql: Sql, packs: readonly Id[]) => Promise<CompiledPack[]>
}

/** Keeps the last `maxPacks` that were used. */
export function createPackCache(maxPacks = 200): PackCache {
  const kept = new Map<string, CompiledPack>()
  const builtIn = compilePack(Manifest.parse(DEFAULT_PACK), DEFAULT_REF, [])
  const keep = (id: Id, pack: CompiledPack) => {
    kept.delete(keyOf(id))
    kept.set(keyOf(id), pack)
    const [oldest] = kept.size > maxPacks ? kept.keys() : []
    if (oldest !== undefined) kept.delete(oldest)
  }
  const load: PackCache['load'] = async (sql, packs) => {
    const missing = packs.filter((id) => !kept.has(keyOf(id)))
    const rows = missing.length === 0 ? [] : await selectPacks(sql, missing)
    const read = new Map(
      rows.map((row) => [keyOf(row), compilePack(Manifest.parse(row.manifest), refOf(row))]),
    )
    return packs.flatMap((id) => {
      const pack = kept.get(keyOf(id)) ?? read.get(keyOf(id))
      if (pack) keep(id, pack)
      return pack ?? []
    })
  }
  return { builtIn, load }
}

function keyOf({ namespaceId, name, version }: Id): string {
  return `${namespaceId}/${name}@${version}`
}

/** What settings and snapshots call a version. */
export function refOf({ namespaceId, name, version }: Id): string {
  return `${namespaceId === SHARED ? '' : 'tenant:'}${name}@${version}`
}
