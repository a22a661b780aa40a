import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { z } from 'zod'
import { fieldRows } from './field-rows.ts'
import type { Schema } from './field-rows.ts'

function rows(schema: z.ZodType): string[] {
  const json = z.toJSONSchema(schema, { io: 'input' }) as Schema
  return fieldRows(json).map(({ name, type, presence }) => `${name}: ${type}, ${presence}`)
}

describe('fieldRows', () => {
  it('tells of each field its type, its limits and whether it must be there', () => {
    const schema = z.object({
      title: z.string().max(500).regex(/\S/),
      slug: z.string().regex(/^[a-z]+$/),
      id: z.uuid().nullable(),
      at: z.iso.datetime().optional(),
      count: z.int().min(1).max(10).default(5),
      seconds: z.number().positive(),
      state: z.enum(['on', 'off']),
      names: z.array(z.string()).max(3),
      note: z.string().max(9).nullable(),
    })
    assert.deepEqual(rows(schema), [
      'title: text ≤ 500, required',
      'slug: text like ^[a-z]+$, required',
      'id: UUID or null, required',
      'at: moment, optional',
      'count: integer 1 … 10, default 5',
      'seconds: number > 0, required',
      'state: "on" or "off", required',
      'names: list ≤ 3 of text, required',
      'note: text ≤ 9 or null, required',
    ])
  })

  it('goes into objects, lists and forms to choose from', () => {
    const schema = z.object({
      items: z.array(z.object({ id: z.string(), more: z.object({ deep: z.boolean() }) })),
      pick: z.union([z.object({ a: z.string() }), z.object({ a: z.string(), b: z.null() })]),
    })
    assert.deepEqual(rows(schema), [
      'items: list of object, required',
      'items[].id: text, required',
      'items[].more: object, required',
      'items[].more.deep: boolean, required',
      'pick: object, required',
      'pick.a: text, required',
      'pick.b: null, required',
    ])
  })

  it('shows what holds itself once', () => {
    const Node = z.object({
      id: z.string(),
      get children() {
        return z.array(Node)
      },
    })
    assert.deepEqual(rows(z.object({ tree: Node })), [
      'tree: object, required',
      'tree.id: text, required',
      'tree.children: list of object, required',
    ])
  })
})
