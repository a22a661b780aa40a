import { canonicalJson } from '#lib/json.ts'
import type { CompiledPack, Kind, Relation } from './pack.ts'

/** What the packs of a namespace declare together. */
export interface Catalog {
  /** Whether writes outside it are refused. */
  strict: boolean
  /** Packs in the order in which they count. */
  packages: readonly string[]
  kinds: ReadonlyMap<string, Kind>
  /** Other words for kinds. */
  synonyms: ReadonlyMap<string, string>
  relations: ReadonlyMap<string, Relation>
  conflicts: readonly Overshadowed[]
}

/** A declaration that an earlier pack made its own. */
export interface Overshadowed {
  kind?: string
  kindAlias?: string
  relation?: string
  pack: string
  overshadowed: string
}

/** The union of packs: where two declare a name, the first counts; saying the same is no conflict. */
export function catalogOf(packs: readonly CompiledPack[], strict: boolean): Catalog {
  const kinds = new Map<string, Kind>()
  const relations = new Map<string, Relation>()
  const conflicts: Overshadowed[] = []
  for (const pack of packs) {
    for (const kind of pack.kinds) {
      const name = kind.declaration.kind
      const first = kinds.get(name)
      if (!first) kinds.set(name, kind)
      else if (differ(first, kind)) {
        conflicts.push({ kind: name, pack: first.pack, overshadowed: pack.ref })
      }
    }
    for (const relation of pack.relations) {
      const name = relation.declaration.relation
      const first = relations.get(name)
      if (!first) relations.set(name, relation)
      else if (differ(first, relation)) {
        conflicts.push({ relation: name, pack: first.pack, overshadowed: pack.ref })
      }
    }
  }
  const synonyms = synonymsOf(packs, kinds, conflicts)
  const packages = packs.map(({ ref }) => ref)
  return { strict, packages, kinds, synonyms, relations, conflicts }
}

/** A kind's own name counts before another's word for it. */
function synonymsOf(
  packs: readonly CompiledPack[],
  kinds: ReadonlyMap<string, Kind>,
  conflicts: Overshadowed[],
): Map<string, string> {
  const synonyms = new Map<string, string>()
  for (const { kinds: declared, ref } of packs) {
    for (const { declaration } of declared.filter((kind) => isInForce(kind, kinds))) {
      for (const kindAlias of declaration.kindAliases) {
        const taken = kinds.get(synonyms.get(kindAlias) ?? kindAlias)
        if (taken) conflicts.push({ kindAlias, pack: taken.pack, overshadowed: ref })
        else synonyms.set(kindAlias, declaration.kind)
      }
    }
  }
  return synonyms
}

function differ(a: Kind | Relation, b: Kind | Relation): boolean {
  return canonicalJson(a.declaration) !== canonicalJson(b.declaration)
}

function isInForce(kind: Kind, kinds: ReadonlyMap<string, Kind>): boolean {
  return kinds.get(kind.declaration.kind) === kind
}

/** The name that a kind goes by. */
export function canonicalKind({ synonyms }: Catalog, kind: string): string {
  return synonyms.get(kind) ?? kind
}

/** Identifiers in a text that the packs know, by kind, in the order of kinds and of the text. */
export function packIdentifiers(
  { kinds }: Catalog,
  text: string,
  limit: number,
): { kind: string; value: string }[] {
  const found: { kind: string; value: string }[] = []
  for (const [kind, { patterns }] of kinds) {
    for (const pattern of patterns) {
      for (const value of pattern.findAll(text)) {
        if (found.length >= limit) return found
        found.push({ kind, value })
      }
    }
  }
  return found
}
