import { randomUUID } from 'node:crypto'
import type { ManifestInput } from '#contract/memory-packs.ts'

/** A name for a pack, a kind or a relation that no other test uses: the registry is everybody's. */
export const own = (name: string) => `${name}_${randomUUID().replaceAll('-', '').slice(0, 12)}`

/** A small pack of a shop under names of its own. */
export function shopPack() {
  const [product, shelf, holds, lies] = [own('product'), own('shelf'), own('holds'), own('lies')]
  const manifest = {
    name: own('shop'),
    version: '1.0',
    kinds: [
      {
        kind: product,
        naturalKey: `${product}:<maker>:<sku>`,
        aliases: ['<maker> <sku>', '<label>'],
        kindAliases: [`${product}_item`],
        idPatterns: ['\\bSKU-(?P<id>\\d+)\\b'],
        attributes: {
          type: 'object',
          required: ['sku'],
          properties: {
            maker: { type: 'string' },
            sku: { type: 'string', pattern: '^[A-Z0-9]+$' },
            price: { type: 'number', minimum: 0 },
            parts: { type: 'array', items: { type: 'string' } },
          },
        },
        sourcePriority: ['erp', 'web'],
      },
      { kind: shelf, naturalKey: { type: 'string', pattern: '^shelf-\\d+$' } },
    ],
    relations: [
      { relation: holds, fromKinds: [shelf], toKinds: [product] },
      { relation: lies, fromKinds: [product], toKinds: [shelf], cardinality: 'one' },
    ],
  } satisfies ManifestInput
  return { manifest, product, shelf, holds, lies }
}
