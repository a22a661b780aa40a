const FORM =
  /^(\d{4}-\d{2}-\d{2})(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?(Z|z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)?)?$/

/**
 * A moment given in ISO 8601 as UTC with six digits of a second, so that equal moments are equal text
 * and text sorts by time: `2026-01-15T10:00:00.000000Z`. Without a zone it is UTC, without a time
 * midnight; digits beyond microseconds are cut. Undefined for what is not a moment of the years 1-9999.
 */
export function toUtcMicros(text: string): string | undefined {
  const match = FORM.exec(text)
  if (!match) return undefined
  const [, day = '', hour = '00', minute = '00', second = '00', fraction = '', zone = 'Z'] = match
  const wall = dayStart(day)
  if (wall === undefined) return undefined
  const minutes = Number(hour) * 60 + Number(minute) - zoneMinutes(zone)
  const utc = new Date(wall + minutes * 60_000 + Number(second) * 1000)
  if (utc.getUTCFullYear() < 1 || utc.getUTCFullYear() > 9999) return undefined
  return `${utc.toISOString().slice(0, 19)}.${fraction.slice(0, 6).padEnd(6, '0')}Z`
}

/** The same cut to whole seconds: `2026-01-15T10:00:00Z`. */
export function toUtcSeconds(text: string): string | undefined {
  const micros = toUtcMicros(text)
  return micros === undefined ? undefined : `${micros.slice(0, 19)}Z`
}

/** A moment with six digits as people write it: without a fraction that is zero. */
export function plainInstant(micros: string): string {
  return micros.replace(/\.0{6}Z$/, 'Z')
}

/** Milliseconds of midnight UTC; undefined for a day that does not exist. */
function dayStart(day: string): number | undefined {
  const time = Date.parse(`${day}T00:00:00Z`)
  if (Number.isNaN(time)) return undefined
  return new Date(time).toISOString().startsWith(day) ? time : undefined
}

function zoneMinutes(zone: string): number {
  if (zone === 'Z' || zone === 'z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return zone.startsWith('-') ? -minutes : minutes
}
