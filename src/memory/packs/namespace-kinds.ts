import type { NamespaceKinds } from '#contract/memory-packs.ts'
import type { Database, Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { namespaceId } from '../store/write.ts'
import { selectSettings, upsertSettings } from './pack.sql.ts'
import type { SettingsRow } from './pack.sql.ts'
import type { PackCache } from './pack-cache.ts'
import { catalogOfRefs, findPacks, isBuiltIn, NO_SETTINGS } from './resolve-packs.ts'

/** The packs of a namespace and what they declare together. */
export async function getNamespaceKinds(
  sql: Sql,
  packs: PackCache,
  namespace: string,
): Promise<NamespaceKinds> {
  const settings = (await selectSettings(sql, namespace)) ?? NO_SETTINGS
  const refs = settings.packages ?? []
  const catalog = await catalogOfRefs(sql, packs, { namespace, strict: settings.strict, refs })
  const { packages, kinds, relations, conflicts } = catalog
  return {
    namespace,
    settings,
    catalog: {
      packages: [...packages],
      kinds: [...kinds.values()].map(({ declaration, pack }) => ({ ...declaration, pack })),
      relations: [...relations.values()].map(({ declaration, pack }) => ({ ...declaration, pack })),
      conflicts: [...conflicts],
    },
  }
}

/**
 * Chooses the packs of a namespace. What is written there already stays as it is. Throws `not_found` for
 * a pack that the namespace cannot use.
 */
export async function putNamespaceKinds(
  db: Database,
  packs: PackCache,
  { namespace, settings }: { namespace: string; settings: SettingsRow },
): Promise<NamespaceKinds> {
  const refs = (settings.packages ?? []).filter((ref) => !isBuiltIn(ref))
  const found = await findPacks(db, namespace, refs)
  const unknown = refs.filter((_, n) => found[n] === undefined)
  if (unknown.length > 0) {
    throw new AppError('not_found', `Cannot choose pack "${unknown[0]}": there is none`, {
      details: { packages: unknown },
    })
  }
  await upsertSettings(db, await namespaceId(db, namespace), settings)
  return await getNamespaceKinds(db, packs, namespace)
}
