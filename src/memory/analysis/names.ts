import { stemOf } from './stem.ts'

const LATIN: Readonly<Record<string, string>> = {
  а: 'a',
  б: 'b',
  в: 'v',
  г: 'g',
  д: 'd',
  е: 'e',
  ж: 'zh',
  з: 'z',
  и: 'i',
  й: 'i',
  к: 'k',
  л: 'l',
  м: 'm',
  н: 'n',
  о: 'o',
  п: 'p',
  р: 'r',
  с: 's',
  т: 't',
  у: 'u',
  ф: 'f',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  ш: 'sh',
  щ: 'sch',
  ъ: '',
  ы: 'y',
  ь: '',
  э: 'e',
  ю: 'yu',
  я: 'ya',
}

/** Letters of the Latin alphabet for a lower-case Cyrillic word; other characters stay. */
export function transliterate(word: string): string {
  return word.replaceAll('ё', 'е').replace(/[а-я]/gu, (letter) => LATIN[letter] ?? '')
}

/**
 * Whether two words of different scripts or cases are forms of one name ("Каролины", "Caroline"): what
 * remains of both without vowels and with like consonants made equal is the same, or differs by one
 * letter in longer names, or one has a single consonant more (a Russian case ending).
 */
export function sameName(a: string, b: string): boolean {
  if (a === b) return true
  // In one script only its own endings make forms of a name ("Dave" is not "Davis").
  if (isCyrillic(a) === isCyrillic(b)) return stemOf(a) === stemOf(b)
  const x = skeleton(a)
  const y = skeleton(b)
  if (x.length < 2 || y.length < 2) return x.length === 1 && x === y
  if (x === y) return true
  if (x.startsWith(y) || y.startsWith(x)) return Math.abs(x.length - y.length) === 1
  return Math.min(x.length, y.length) >= 4 && oneEditApart(x, y)
}

function isCyrillic(word: string): boolean {
  return /[а-я]/iu.test(word)
}

function skeleton(word: string): string {
  return transliterate(word.toLowerCase())
    .replaceAll('ph', 'f')
    .replace(/c(?=[eiy])/gu, 's')
    .replace(/[cq]/gu, 'k')
    .replaceAll('x', 'ks')
    .replace(/dzh|g(?=[ie])/gu, 'j')
    .replace(/kh|h/gu, '')
    .replaceAll('w', 'v')
    .replace(/[aeiouy]/gu, '')
    .replace(/(.)\1+/gu, '$1')
}

function oneEditApart(a: string, b: string): boolean {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  const one = a.slice(i + 1)
  const other = b.slice(i + 1)
  return one === other || a.slice(i) === other || one === b.slice(i)
}
