import { hideEmails } from '../text.ts'

export const MAX_TITLE = 200
export const MAX_MESSAGE = 8000

export interface UnitOptions {
  readonly repo: string
  /** Publish e-mail addresses in clear. */
  readonly withEmails: boolean
}

export function shown(options: UnitOptions, text: string): string {
  return options.withEmails ? text : hideEmails(text)
}

export function time(name: string, seconds: number | undefined): Record<string, string> {
  if (seconds === undefined) return {}
  return { [name]: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z') }
}
