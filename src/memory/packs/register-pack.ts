import { Manifest } from '#contract/memory-packs.ts'
import type { Pack } from '#contract/memory-packs.ts'
import type { Database, Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { sha256 } from '#lib/id.ts'
import { plainInstant } from '#lib/instant.ts'
import { canonicalJson } from '#lib/json.ts'
import { namespaceId } from '../store/write.ts'
import { compilePack } from './pack.ts'
import {
  insertPack,
  selectPackVersions,
  selectPacks,
  selectSharedClashes,
  SHARED,
} from './pack.sql.ts'
import type { PackRow } from './pack.sql.ts'
import { refOf } from './pack-cache.ts'
import { SOFTWARE_DELIVERY } from './shipped/software-delivery.ts'
import { WIKI } from './shipped/wiki.ts'
import { WORK_TRACKING } from './shipped/work-tracking.ts'

/**
 * Registers a version of a pack, for all namespaces or, with an owner, for a tenant. The same content
 * again changes nothing.
 *
 * Throws `invalid_request` for a manifest that cannot be used, `pack_version_conflict` for another
 * content under a version that is taken, and for a tenant's pack `pack_name_conflict`, `kind_conflict` or
 * `relation_conflict` when a shared pack has the name.
 */
export async function registerPack(
  db: Database,
  { manifest, owner }: { manifest: Manifest; owner: string | null },
): Promise<{ pack: Pack; isNew: boolean }> {
  const { name, version } = manifest
  if (name === 'default') throw reserved()
  compilePack(manifest, `${name}@${version}`)
  if (owner !== null) await requireNoClash(db, manifest)
  const row = {
    namespaceId: owner === null ? SHARED : await namespaceId(db, owner),
    name,
    version,
    contentHash: sha256(canonicalJson(manifest)).slice(0, 40),
    manifest,
  }
  const made = await insertPack(db, row)
  if (made) return { pack: packOf(made, owner), isNew: true }
  const [known] = await selectPacks(db, [row])
  if (!known) throw new Error('A pack was neither new nor known')
  if (known.contentHash !== row.contentHash) throw versionTaken(refOf(known))
  return { pack: packOf(known, owner), isNew: false }
}

/** Registers what comes with the service. Safe to repeat; a version that is there stays as it is. */
export async function registerShippedPacks(db: Database): Promise<void> {
  for (const given of [SOFTWARE_DELIVERY, WORK_TRACKING, WIKI]) {
    await registerPack(db, { manifest: Manifest.parse(given), owner: null })
  }
}

export function packOf(row: PackRow, owner: string | null): Pack {
  return {
    ...Manifest.parse(row.manifest),
    scope: owner === null ? 'shared' : 'tenant',
    ref: refOf(row),
    namespace: owner,
    contentHash: row.contentHash,
    createdAt: plainInstant(row.createdAt),
  }
}

async function requireNoClash(sql: Sql, { name, kinds, relations }: Manifest): Promise<void> {
  const taken = await selectPackVersions(sql, [SHARED], [name])
  if (taken.length > 0) {
    throw new AppError('pack_name_conflict', `Cannot register the pack: "${name}" is a shared pack`)
  }
  const [clash] = await selectSharedClashes(sql, {
    kinds: kinds.map(({ kind }) => kind),
    relations: relations.map(({ relation }) => relation),
  })
  if (!clash) return
  throw new AppError(
    `${clash.what}_conflict`,
    `Cannot register the pack: a shared pack declares the ${clash.what} "${clash.name}"`,
    { details: { [clash.what]: clash.name } },
  )
}

function versionTaken(ref: string): AppError {
  return new AppError(
    'pack_version_conflict',
    `Cannot register the pack: "${ref}" has another content, and a version never changes`,
  )
}

function reserved(): AppError {
  return new AppError('invalid_request', 'Cannot register the pack: its name is reserved', {
    details: { errors: [{ loc: 'body.name', message: 'is reserved' }] },
  })
}
