import { composeCompatible } from '#lib/invisible.ts'
import { asksWhen, datesIn } from '../analysis/dates.ts'
import type { NamedDate } from '../analysis/dates.ts'
import { identifiersIn } from '../analysis/identifiers.ts'
import { sameName } from '../analysis/names.ts'
import { analyse, fold } from '../analysis/terms.ts'
import { translationsOf } from '../lexicon/translations.ts'

/** A question as the search understands it. */
export interface Query {
  text: string
  /** Distinct terms, at most `MAX_TERMS`, in the order of the text. */
  terms: readonly string[]
  /** For each term what it means in the other language, for where nothing holds the term itself. */
  translations: readonly (readonly string[])[]
  identifiers: readonly string[]
  /** Capitalised words, at most `MAX_NAMES`: what may be somebody's name. */
  names: readonly string[]
  dates: readonly NamedDate[]
  asksWhen: boolean
}

/** A task's whole description may be the query; its first words say what it is about. */
const MAX_TERMS = 48
/** Each is compared with every author among the candidates. */
const MAX_NAMES = 24

/** Total: any text is a query, if only an empty one. */
export function understand(text: string): Query {
  const terms = [...analyse(text).keys()].slice(0, MAX_TERMS)
  return {
    text,
    terms,
    translations: terms.map(translationsOf),
    identifiers: identifiersIn(text),
    names: [...new Set(composeCompatible(text).match(CAPITALISED) ?? [])].slice(0, MAX_NAMES),
    dates: datesIn(text),
    asksWhen: asksWhen(text),
  }
}

const CAPITALISED = /\p{Lu}\p{Ll}+/gu

/** The authors a query names, the words that name them, and the terms that do nothing else. */
export interface NamedAuthors {
  authors: ReadonlySet<string>
  names: ReadonlySet<string>
  terms: ReadonlySet<string>
}

/**
 * Which of the given authors the query names, in any script and case. Their names say whose words are
 * sought, not which words: they are left out of the terms unless nothing else is asked.
 */
export function authorsNamed(query: Query, authors: Iterable<string>): NamedAuthors {
  const named = new Set<string>()
  const names = new Set<string>()
  const terms = new Set<string>()
  if (query.names.length > 0) {
    for (const author of authors) {
      for (const name of query.names) {
        if (!wordsOf(author).some((word) => sameName(fold(word), fold(name)))) continue
        named.add(author)
        names.add(name)
        for (const term of analyse(name).keys()) terms.add(term)
      }
    }
  }
  const onlyNames = query.terms.every((term) => terms.has(term))
  return { authors: named, names, terms: onlyNames ? new Set() : terms }
}

/** The query's text without the authors it names, unless it asks nothing else. */
export function withoutAuthors(query: Query, authors: Iterable<string>): string {
  const { names } = authorsNamed(query, authors)
  if (names.size === 0) return query.text
  const rest = composeCompatible(query.text).replaceAll(NAMING, (name, word: string) =>
    names.has(word) ? ' ' : name,
  )
  return analyse(rest).size === 0 ? query.text : rest.replaceAll(/\s+/gu, ' ').trim()
}

const NAMING = /(\p{Lu}\p{Ll}+)(?:['’]s)?/gu

function wordsOf(author: string): string[] {
  return author.match(/\p{L}{2,}/gu) ?? []
}
