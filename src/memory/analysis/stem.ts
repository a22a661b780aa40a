import snowball from 'snowball-stemmers'
import type { Stemmer } from 'snowball-stemmers'
import { irregularForms } from './irregular.ts'
import { stopWords } from './stop-words.ts'

/** Words beyond this length are data (base64, hashes), not language. */
const MAX_STEMMED_CHARS = 40
/** Stemming one English word costs about 10 µs, a lookup 0.05 µs; 50,000 words are about 5 MB. */
const MAX_REMEMBERED_WORDS = 50_000

interface Language {
  english: Stemmer
  russian: Stemmer
  stop: ReadonlySet<string>
  irregular: ReadonlyMap<string, string>
  stems: Map<string, string>
}

/** Holds no state a caller can see: `stemOf` is a pure function and this only saves its repetition. */
let language: Language | undefined

/**
 * The index form of one lower-case word: its Snowball stem, in Russian for Cyrillic words and in
 * English for words of `a`-`z`, irregular forms (`went`, `children`, `людей`) by the word they belong to;
 * other scripts and words with digits stay as they are. Empty for a stop word of either language.
 */
export function stemOf(word: string): string {
  language ??= {
    english: snowball.newStemmer('english'),
    russian: snowball.newStemmer('russian'),
    stop: stopWords(),
    irregular: irregularForms(),
    stems: new Map(),
  }
  const known = language.stems.get(word)
  if (known !== undefined) return known
  const stem = language.stop.has(word)
    ? ''
    : compute(language.irregular.get(word) ?? word, language)
  if (language.stems.size >= MAX_REMEMBERED_WORDS) language.stems.clear()
  language.stems.set(word, stem)
  return stem
}

function compute(word: string, { english, russian }: Language): string {
  if (word.length > MAX_STEMMED_CHARS) return word
  if (/^[a-z]+$/.test(word)) return english.stem(word)
  if (/^[а-я]+$/.test(word)) return russian.stem(word)
  return word
}
