import { composeCompatible } from '#lib/invisible.ts'

/** A day, month or year named in a text; a missing year is any year. */
export interface NamedDate {
  year?: number
  month?: number
  day?: number
}

const ENGLISH =
  'january february march april may june july august september october november december'.split(' ')
const RUSSIAN = 'январ феврал март апрел ма июн июл август сентябр октябр ноябр декабр'.split(' ')
const DAY_MS = 86_400_000

const ISO = /\b(\d{4})-(\d{2})(?:-(\d{2}))?\b/gu
const DAY_MONTH = /\b(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-zа-я]{3,10})(?:,? (\d{4}))?/gu
const MONTH_DAY = /([a-zа-я]{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?(?:,? (\d{4}))?(?![\d:])/gu
const MONTH_YEAR = /([a-zа-я]{3,10}),? (?:of )?(\d{4})/gu
const MONTH =
  /(?:^|[^a-zа-я])(?:in|during|of|в|early|late|mid|since) ([a-zа-я]{3,10})(?![a-zа-я])/gu
const YEAR = /\b(?:19|20)\d\d\b/gu

type Read = (match: RegExpMatchArray) => NamedDate | undefined

const FORMS: readonly (readonly [RegExp, Read])[] = [
  [ISO, (m) => dated(m[1], Number(m[2]), m[3])],
  [DAY_MONTH, (m) => dated(m[3], monthOf(m[2]), m[1])],
  [MONTH_DAY, (m) => dated(m[3], monthOf(m[1]), m[2])],
  [MONTH_YEAR, (m) => dated(m[2], monthOf(m[1]), undefined)],
  [MONTH, (m) => (/^(?:may|mar)$/u.test(m[1] ?? '') ? undefined : dated(undefined, monthOf(m[1])))],
  [YEAR, (m) => ({ year: Number(m[0]) })],
]

/** Explicit dates of an English or Russian text; the most precise reading of each place. */
export function datesIn(text: string): NamedDate[] {
  const plain = composeCompatible(text).toLowerCase().replaceAll('ё', 'е')
  const taken: { start: number; end: number }[] = []
  const dates: NamedDate[] = []
  for (const [form, read] of FORMS) {
    for (const match of plain.matchAll(form)) {
      const start = match.index
      const end = start + match[0].length
      if (taken.some((place) => start < place.end && end > place.start)) continue
      const date = read(match)
      if (date === undefined) continue
      taken.push({ start, end })
      dates.push(date)
    }
  }
  return dates
}

/**
 * How near a moment is to the nearest of the dates, 0 to 1: within a day of a named day 1, in the named
 * month 0.7, in the named year 0.2. The steps were set on public sets of dated conversations.
 */
export function closeness(at: Date, dates: readonly NamedDate[]): number {
  let best = 0
  for (const date of dates) best = Math.max(best, closenessTo(at, date))
  return best
}

function closenessTo(at: Date, { year, month, day }: NamedDate): number {
  const y = year ?? at.getUTCFullYear()
  if (month !== undefined && day !== undefined) {
    const midday = Date.UTC(y, month - 1, day, 12)
    const days = Math.abs(at.getTime() - midday) / DAY_MS
    return step(days, [1.5, 1], [3.5, 0.8], [7.5, 0.6], [14.5, 0.3])
  }
  if (month !== undefined) {
    const months = Math.abs((y - at.getUTCFullYear()) * 12 + (month - 1) - at.getUTCMonth())
    return step(months, [0, 0.7], [1, 0.3])
  }
  return year === at.getUTCFullYear() ? 0.2 : 0
}

function step(distance: number, ...steps: readonly (readonly [number, number])[]): number {
  return steps.find(([within]) => distance <= within)?.[1] ?? 0
}

const TIME_EXPRESSION =
  /\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|since|this (?:week|month|year|morning|weekend)|week(?:end)?s?|months?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:19|20)\d\d)\b|вчера|сегодня|завтра|прошл|следующ|назад|недавн|недел|месяц|понедельник|вторник|сред[уы]|четверг|пятниц|суббот|воскресень/iu
const MONTH_NAME = new RegExp(
  `\\b(?:${ENGLISH.join('|')})\\b|${RUSSIAN.filter((m) => m !== 'ма').join('|')}`,
  'iu',
)
const ASKS_WHEN =
  /^\s*(?:when\b|когда)|\bwhat (?:date|day|month|year)\b|\bhow long\b|как долго|какого числа|в как(?:ом|ой|ую) (?:году|месяце|день)/iu

/** Whether a text says when something happens. */
export function mentionsTime(text: string): boolean {
  return TIME_EXPRESSION.test(text) || MONTH_NAME.test(text)
}

/** Whether a question asks for a time. */
export function asksWhen(query: string): boolean {
  return ASKS_WHEN.test(query)
}

function dated(year: string | undefined, month: number, day?: string): NamedDate | undefined {
  if (month < 1 || month > 12 || year?.startsWith('0')) return undefined
  const d = day === undefined ? undefined : Number(day)
  if (d !== undefined && (d < 1 || d > 31)) return undefined
  return {
    month,
    ...(year !== undefined && { year: Number(year) }),
    ...(d !== undefined && { day: d }),
  }
}

/** 1 to 12, or 0: full English names and their first three or four letters, Russian in any case. */
function monthOf(word: string | undefined): number {
  if (word === undefined) return 0
  const english = ENGLISH.findIndex(
    (name) => name === word || (word.length <= 4 && name.startsWith(word)),
  )
  if (english >= 0) return english + 1
  const russian = RUSSIAN.findIndex((stem) =>
    stem === 'ма' ? /^ма(?:й|я|е|ю|ем)$/u.test(word) : word.startsWith(stem),
  )
  return russian + 1
}
