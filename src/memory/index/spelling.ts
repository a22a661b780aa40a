import { transliterate } from '../analysis/names.ts'

/** Which words of a namespace are spelt alike, in whatever alphabet: by the letters they have in a row. */
export interface Spelling {
  readonly bytes: number
  /** Takes a word; one that is known changes nothing. */
  learn: (word: string, term: number) => void
  /** Forgets the word of a term. Looks through all words: for what is rarely done. */
  forget: (term: number) => void
  /** Numbers of the terms whose words hold these letters in a row. */
  holding: (letters: string) => readonly number[]
}

/** Fewer letters in a row say little, more are missed by one typing error. */
const LETTERS = 4
const BYTES_AN_ENTRY = 8
const BYTES_A_LIST = 120
const BYTES_A_WORD = 30

export function createSpelling(): Spelling {
  const lists = new Map<string, number[]>()
  const known = new Set<number>()
  let entries = 0
  return {
    get bytes() {
      return entries * BYTES_AN_ENTRY + lists.size * BYTES_A_LIST + known.size * BYTES_A_WORD
    },
    learn: (word, term) => {
      if (known.has(term)) return
      known.add(term)
      for (const letters of lettersOf(word)) {
        const list = lists.get(letters) ?? []
        if (list.length === 0) lists.set(letters, list)
        list.push(term)
        entries += 1
      }
    },
    forget: (term) => {
      if (!known.delete(term)) return
      for (const [letters, list] of lists) {
        const left = list.filter((one) => one !== term)
        entries -= list.length - left.length
        if (left.length === 0) lists.delete(letters)
        else lists.set(letters, left)
      }
    },
    holding: (letters) => lists.get(letters) ?? [],
  }
}

/**
 * The distinct runs of four letters of a stem in Latin letters, of which the first begins with a mark;
 * a shorter stem is one run.
 */
export function lettersOf(stem: string): string[] {
  const marked = `_${transliterate(stem)}`
  if (marked.length <= LETTERS) return [marked]
  const runs = Array.from({ length: marked.length - LETTERS + 1 }, (_, i) =>
    marked.slice(i, i + LETTERS),
  )
  return [...new Set(runs)]
}
