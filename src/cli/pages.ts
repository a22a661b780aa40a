import type { Screen } from './screen.ts'

/** What every listing of the command line takes. */
export const PAGE_OPTIONS = {
  limit: { value: 'count', summary: 'At most so many, 1 to 200 (50)' },
  cursor: { value: 'cursor', summary: 'Go on after an earlier page' },
} as const

export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor: string | null
}

export interface PageTable<T> {
  readonly headings: readonly string[]
  readonly row: (item: T) => readonly string[]
  /** Said when there is nothing. */
  readonly none: string
}

/** The answer of a listing: a table, and how to read on where it is not all. */
export function showPage<T>(
  screen: Screen,
  page: Page<T>,
  { headings, row, none }: PageTable<T>,
): void {
  screen.result(page, () => {
    screen.table(headings, page.items.map(row), none)
    if (page.nextCursor !== null) screen.note(`more: --cursor ${page.nextCursor}`)
  })
}
