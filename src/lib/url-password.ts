import type { Span } from './spans.ts'

/** The password of `scheme://name:password@host`. Everything is bounded, so a search is linear. */
const USER_INFO = /(?<=:\/\/[^\s/@:"'<>?#]{0,200}:)[^\s/@"'<>?#]{4,200}(?=@)/g
/** What only stands for a password: a name for it, a variable, stars. */
const STAND_IN =
  /^(?:pass(?:word|wd|phrase)?|secret|token|user(?:name)?|postgres|x+|\*+|\.+|[$%{[(].*)$/i

/** Passwords in URLs, in the order they stand. */
export function findUrlPasswords(text: string): Span[] {
  if (!text.includes('://')) return []
  return [...text.matchAll(USER_INFO)]
    .filter(([password]) => !STAND_IN.test(password))
    .map(({ 0: password, index }) => ({ start: index, end: index + password.length }))
}
