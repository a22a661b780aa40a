import assert from 'node:assert/strict'
import type { TypedPack } from '#contract/memory-typed.ts'
import type { Database } from '#db/sql.ts'
import { entity, fact, recalling } from './recalling.ts'

/** Services that use databases and each other, told at different times. */
export async function services(db: Database) {
  const memory = recalling(db)
  await memory.tell({
    content: 'What runs here',
    at: '2026-01-01T00:00:00Z',
    assertions: [
      entity('service:pay', 'Payments', {
        aliases: ['payments-api'],
        properties: { tier: 1, area: '62.01', tags: ['money', 'core'], since: '2025-03-01' },
      }),
      entity('service:cart', 'Cart', { properties: { tier: 2, area: '62.011' } }),
      entity('service:mail', 'Mail', { properties: { tier: 3, area: '62.01.11', tags: [] } }),
      entity('database:ledger', 'Ledger'),
      fact('service:cart', 'CALLS', 'service:pay'),
      fact('service:pay', 'CALLS', 'service:mail'),
      fact('service:pay', 'USES', 'database:ledger'),
      fact('service:mail', 'USES', 'queue:outbox'),
    ],
  })
  const typed = async (body: object): Promise<TypedPack> => {
    const { status, body: pack } = await memory.post('/api/memory/context/typed', {
      scope: { namespace: memory.namespace },
      ...body,
    })
    assert.equal(status, 200, JSON.stringify(pack))
    return pack
  }
  return { ...memory, typed }
}

export const keysOf = (pack: TypedPack) =>
  pack.sections.flatMap(({ items }) => items.map(({ key }) => key)).toSorted()

export const triplesOf = (pack: TypedPack) =>
  pack.facts.map(({ subject, relation, object }) => `${subject.key} ${relation} ${object.key}`)
