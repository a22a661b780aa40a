/** At most `max` characters, never half of a surrogate pair. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  const last = text.charCodeAt(max - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

/** One line without control characters, for a title. */
export function oneLine(text: string, max: number): string {
  return cutText(text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim(), max)
}

/** Replaces e-mail addresses: a person is known by name and by the hash of the address. */
export function hideEmails(text: string): string {
  return text.replaceAll(
    /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu,
    '[e-mail]',
  )
}
