import type { Dictionary } from './read-dictionary.ts'

/** Words of one language by those of another that mean about the same, with a weight from 0 to 1. */
export type Translations = Map<string, Map<string, number>>

/** Neighbours of a word: for each language the words it is translated by. */
export type Graph = Map<string, Map<string, Set<string>>>

export type Language = 'rus' | 'eng'

/** What a way over two languages counts, against one over a single language. */
const LONG_WAY = 0.3

/**
 * Translations from one language to another through others: the chance to arrive at a word when walking at
 * random over dictionaries. Meanings that only one language joins are rare on other ways,
 * so what several languages agree on stands out. Source: Tanaka, Umemura, "Construction of a bilingual
 * dictionary intermediated by a third language", COLING 1994.
 */
export function walk(graph: Graph, from: Language, to: Language): Translations {
  const found: Translations = new Map()
  for (const start of graph.keys()) {
    const [language = '', word = ''] = start.split(':')
    if (language !== from) continue
    const reached = arrivals(graph, start, to)
    if (reached.size > 0) found.set(word, reached)
  }
  return found
}

/** The dictionaries as one graph, each entry in both directions. */
export function graphOf(dictionaries: readonly Dictionary[]): Graph {
  const graph: Graph = new Map()
  for (const { from, to, translations } of dictionaries) {
    for (const [word, others] of translations) {
      for (const other of others) {
        join(graph, [from, word], [to, other])
        join(graph, [to, other], [from, word])
      }
    }
  }
  return graph
}

function join(
  graph: Graph,
  [language, word]: [string, string],
  [other, translation]: [string, string],
) {
  const key = `${language}:${word}`
  const byLanguage = graph.get(key) ?? new Map<string, Set<string>>()
  graph.set(key, byLanguage)
  const words = byLanguage.get(other) ?? new Set()
  byLanguage.set(other, words.add(translation))
}

function arrivals(graph: Graph, start: string, to: Language): Map<string, number> {
  const chances = new Map<string, number>()
  const arrive = (key: string, chance: number) => {
    const words = graph.get(key)?.get(to)
    for (const word of words ?? []) {
      chances.set(word, (chances.get(word) ?? 0) + chance / (words?.size ?? 1))
    }
  }
  for (const [key, chance] of steps(graph, start, 1)) {
    arrive(key, chance)
    for (const [next, further] of steps(graph, key, LONG_WAY * chance)) arrive(next, further)
  }
  return chances
}

/** One step to each word of each language but the two of the lexicon; each language counts alike. */
function steps(graph: Graph, from: string, chance: number): [string, number][] {
  const languages = [...(graph.get(from) ?? [])].filter(
    ([language]) => language !== 'rus' && language !== 'eng',
  )
  return languages.flatMap(([language, words]) =>
    Array.from(words, (word): [string, number] => [`${language}:${word}`, chance / words.size]),
  )
}
