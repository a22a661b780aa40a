import type { KindDeclaration, Manifest, RelationDeclaration } from '#contract/memory-packs.ts'
import { AppError } from '#lib/errors.ts'
import type { Validate } from '#lib/json-schema.ts'
import { compilePattern } from './pattern.ts'
import type { Pattern } from './pattern.ts'
import { hasTouchingPlaces, namesOf, parseTemplate } from './template.ts'
import type { Template } from './template.ts'
import { checkOf } from './value-schema.ts'

/** A kind that can be judged by. */
export interface Kind {
  declaration: KindDeclaration
  /** The pack that declares it, as `name@version`. */
  pack: string
  key: { template: Template } | { check: Validate } | null
  aliases: readonly Template[]
  patterns: readonly Pattern[]
  attributes: Validate | null
}

export interface Relation {
  declaration: RelationDeclaration
  pack: string
}

export interface CompiledPack {
  ref: string
  kinds: readonly Kind[]
  relations: readonly Relation[]
}

/** What every namespace has: no pack redefines them. */
export const BASE_KINDS: readonly string[] = ['document', 'entity', 'fact']

/**
 * Makes a manifest usable. Throws `invalid_request` with every fault at its place: a name used twice, a
 * base kind redefined, a template, pattern or schema that cannot be used.
 */
export function compilePack(
  manifest: Manifest,
  ref: string,
  reserved: readonly string[] = BASE_KINDS,
): CompiledPack {
  const faults = new Faults()
  faults.addRepeated(namesIn(manifest.kinds), reserved)
  faults.addRepeated(
    manifest.relations.map(({ relation }, n) => [`relations.${n}.relation`, relation]),
    [],
  )
  const kinds = manifest.kinds.map((declaration, n) =>
    compileKind(declaration, ref, (loc) => faults.at(`kinds.${n}.${loc}`)),
  )
  faults.throwAny()
  const relations = manifest.relations.map((declaration) => ({ declaration, pack: ref }))
  return { ref, kinds, relations }
}

function namesIn(kinds: readonly KindDeclaration[]): [string, string][] {
  return kinds.flatMap(({ kind, kindAliases }, n): [string, string][] => [
    [`kinds.${n}.kind`, kind],
    ...kindAliases.map((alias, m): [string, string] => [`kinds.${n}.kindAliases.${m}`, alias]),
  ])
}

type Trying = (loc: string) => <T>(work: () => T) => T | null

function compileKind(declaration: KindDeclaration, pack: string, at: Trying): Kind {
  const { naturalKey, aliases, idPatterns, attributes } = declaration
  return {
    declaration,
    pack,
    key: naturalKey === undefined ? null : at('naturalKey')(() => keyRule(naturalKey)),
    aliases: aliases
      .map((text, n) => at(`aliases.${n}`)(() => aliasTemplate(text)))
      .filter((one) => one !== null),
    patterns: idPatterns.flatMap(
      (text, n) => at(`idPatterns.${n}`)(() => compilePattern(text)) ?? [],
    ),
    attributes: attributes === undefined ? null : at('attributes')(() => checkOf(attributes)),
  }
}

function keyRule(naturalKey: string | Record<string, unknown>): Kind['key'] {
  if (typeof naturalKey !== 'string') return { check: checkOf(naturalKey) }
  const template = parseTemplate(naturalKey)
  if (hasTouchingPlaces(template)) throw new Error('must have something between two places')
  return { template }
}

function aliasTemplate(text: string): Template {
  const template = parseTemplate(text)
  if (namesOf(template).length === 0) throw new Error('must have a place such as <name>')
  return template
}

/** Everything wrong with a manifest, told at once. */
class Faults {
  readonly #errors: { loc: string; message: string }[] = []

  addRepeated(
    names: readonly (readonly [loc: string, name: string])[],
    reserved: readonly string[],
  ): void {
    const seen = new Set(reserved)
    for (const [loc, name] of names) {
      if (seen.has(name)) this.#add(loc, 'is taken')
      seen.add(name)
    }
  }

  at(loc: string): <T>(work: () => T) => T | null {
    return (work) => {
      try {
        return work()
      } catch (error) {
        this.#add(loc, error instanceof Error ? error.message : 'cannot be used')
        return null
      }
    }
  }

  throwAny(): void {
    if (this.#errors.length === 0) return
    throw new AppError('invalid_request', 'Cannot register the pack: it cannot be used', {
      details: {
        errors: this.#errors.map(({ loc, message }) => ({ loc: `body.${loc}`, message })),
      },
    })
  }

  #add(loc: string, message: string): void {
    this.#errors.push({ loc, message: message.slice(0, 300).toWellFormed() })
  }
}
