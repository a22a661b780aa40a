/** Kinds of personal data that can be told by their form. Names and addresses cannot. */
export const PII_CATEGORIES = ['phone', 'email', 'passport_rf', 'snils', 'card', 'inn'] as const
export type PiiCategory = (typeof PII_CATEGORIES)[number]

interface Detector {
  category: PiiCategory
  pattern: RegExp
  /** Judges the digits of a match; what has no check digits is judged by its form alone. */
  isValid?: (digits: string) => boolean
}

const START = String.raw`(?<![\p{L}\p{N}_])`
const END = String.raw`(?![\p{L}\p{N}_])`
const GAP = String.raw`[ \u00a0\u2010-\u2015-]`
const SPACE = String.raw`[ \u00a0]`

/** The first that fits a place wins. Every repetition is bounded: a search is linear. */
const DETECTORS: readonly Detector[] = [
  {
    category: 'email',
    pattern: new RegExp(
      String.raw`(?<![\p{L}\p{N}._%+-])[\p{L}\p{N}._%+-]{1,64}@(?:[\p{L}\p{N}-]{1,63}\.){1,8}\p{L}{2,24}${END}`,
      'giu',
    ),
  },
  {
    category: 'card',
    pattern: new RegExp(`${START}\\d(?:${GAP}?\\d){12,18}${END}`, 'gu'),
    isValid: hasLuhnDigit,
  },
  {
    category: 'snils',
    pattern: new RegExp(`${START}\\d{3}${GAP}?\\d{3}${GAP}?\\d{3}${GAP}?\\d{2}${END}`, 'gu'),
    isValid: hasSnilsDigits,
  },
  {
    category: 'phone',
    pattern: new RegExp(
      `(?<![\\p{L}\\p{N}_])(?:\\+7|8|7)${GAP}?\\(?[3489]\\d{2}\\)?${GAP}?\\d{3}${GAP}?\\d{2}${GAP}?\\d{2}${END}`,
      'gu',
    ),
  },
  {
    category: 'phone',
    pattern: new RegExp(`(?<![\\p{L}\\p{N}_+])\\+[1-9](?:[ \\u00a0()-]{0,2}\\d){7,14}${END}`, 'gu'),
  },
  {
    category: 'inn',
    pattern: new RegExp(`${START}(?:\\d{12}|\\d{10})${END}`, 'gu'),
    isValid: hasInnDigits,
  },
  {
    category: 'passport_rf',
    pattern: new RegExp(
      `${START}\\d{2}${SPACE}?\\d{2}(?:${SPACE}{1,2}(?:№|N)?${SPACE}?|№)\\d{6}${END}`,
      'giu',
    ),
  },
  {
    category: 'passport_rf',
    pattern: new RegExp(`(?<=(?:паспорт|passport)[^\\d\\n]{0,24})\\d{10}${END}`, 'giu'),
  },
]

export interface FoundPii {
  category: PiiCategory
  start: number
  end: number
}

/** Personal data in a text, in its order, without overlaps. */
export function findPii(text: string): FoundPii[] {
  if (!/\d|@/.test(text)) return []
  const found: FoundPii[] = []
  for (const { category, pattern, isValid } of DETECTORS) {
    for (const { 0: match, index } of text.matchAll(pattern)) {
      const span = { category, start: index, end: index + match.length }
      const isTaken = found.some(({ start, end }) => start < span.end && span.start < end)
      if (!isTaken && (isValid?.(match.replaceAll(/\D/g, '')) ?? true)) found.push(span)
    }
  }
  return found.toSorted((a, b) => a.start - b.start)
}

/** The text with every piece of personal data as `[ПДн:<category>]`, and which were there. */
export function maskPii(text: string): { text: string; categories: PiiCategory[] } {
  const found = findPii(text)
  let masked = ''
  let from = 0
  for (const { category, start, end } of found) {
    masked += `${text.slice(from, start)}[ПДн:${category}]`
    from = end
  }
  const categories = [...new Set(found.map(({ category }) => category))]
  return { text: masked + text.slice(from), categories }
}

/** ISO/IEC 7812-1, annex B. */
function hasLuhnDigit(digits: string): boolean {
  const sum = digits
    .split('')
    .toReversed()
    .reduce((total, digit, place) => {
      const value = place % 2 === 0 ? Number(digit) : Number(digit) * 2
      return total + (value > 9 ? value - 9 : value)
    }, 0)
  return sum % 10 === 0 && /[1-9]/.test(digits)
}

/** Two check digits over the nine before them, weighted 9 to 1, modulo 101. */
function hasSnilsDigits(digits: string): boolean {
  const sum = weighted(digits, [9, 8, 7, 6, 5, 4, 3, 2, 1])
  return sum > 0 && Number(digits.slice(9)) === (sum % 101) % 100
}

/** One check digit of ten, two of twelve, modulo 11. */
function hasInnDigits(digits: string): boolean {
  const isRight = (place: number, weights: readonly number[]) =>
    (weighted(digits, weights) % 11) % 10 === Number(digits[place])
  if (/^0+$/.test(digits)) return false
  if (digits.length === 10) return isRight(9, [2, 4, 10, 3, 5, 9, 4, 6, 8])
  return (
    isRight(10, [7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) && isRight(11, [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8])
  )
}

function weighted(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, place) => sum + weight * Number(digits[place]), 0)
}
