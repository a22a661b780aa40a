import { sha256 } from '#lib/id.ts'

/** `obs-` and 24 hex digits; a sender can compute it. */
export function observationId(namespace: string, identity: string): string {
  return `obs-${sha256(`${namespace}|${identity}`).slice(0, 24)}`
}

/** What makes two deliveries of a sender that names its observations the same one. */
export function externalIdentity(
  system: string | null | undefined,
  stream: string | null | undefined,
  externalId: string,
): string {
  return `${system ?? ''}|${stream ?? ''}|${externalId}`
}

/** The source of every observation made from the journal. */
export const JOURNAL_SOURCE = { system: 'control-plane', stream: 'domain-events' } as const

/** How memory knows what an event of the journal told it. */
export function journalObservationId(namespace: string, eventId: string): string {
  const { system, stream } = JOURNAL_SOURCE
  return observationId(namespace, externalIdentity(system, stream, externalIdOf(eventId)))
}

export function externalIdOf(eventId: string): string {
  return `event:${eventId}`
}
