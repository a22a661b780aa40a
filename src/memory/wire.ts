import { z } from 'zod'

/** The fields that a schema names, at any depth; what it leaves free is not looked into. */
interface Known {
  fields: Map<string, Known>
  element: Known | undefined
}

/**
 * Brings keys of a request to the contract's spelling, which is snake_case (camelCase in packs), only where
 * the contract names the field, so that a caller's own data keeps its keys. A field given in both
 * spellings is left alone and is refused as unknown.
 */
export function toSnakeCase(schema: z.ZodType, value: unknown): unknown {
  return renamed(knownOf(schema), value)
}

function renamed(known: Known, value: unknown): unknown {
  if (Array.isArray(value)) {
    const { element } = known
    return element ? value.map((item) => renamed(element, item)) : value
  }
  if (typeof value !== 'object' || value === null || known.fields.size === 0) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = spelling(known, key, value)
      const inner = known.fields.get(name)
      return [name, inner ? renamed(inner, item) : item]
    }),
  )
}

function spelling(known: Known, key: string, whole: object): string {
  if (known.fields.has(key)) return key
  const other = /[A-Z]/.test(key)
    ? key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return known.fields.has(other) && !Object.hasOwn(whole, other) ? other : key
}

/** Holds no state a caller can see: schemas never change, and a batch asks the same one for every item. */
const read = new WeakMap<z.core.$ZodType, Known>()

function knownOf(schema: z.core.$ZodType): Known {
  const before = read.get(schema)
  if (before) return before
  const known = readFields(schema)
  read.set(schema, known)
  return known
}

function readFields(schema: z.core.$ZodType): Known {
  if (schema instanceof z.ZodObject) {
    const shape: Record<string, z.core.$ZodType> = schema.shape
    const fields = Object.entries(shape).map(([name, inner]) => [name, knownOf(inner)] as const)
    return { fields: new Map(fields), element: undefined }
  }
  if (schema instanceof z.ZodArray) return { fields: new Map(), element: knownOf(schema.element) }
  if (schema instanceof z.ZodPipe) return knownOf(schema.in)
  if (schema instanceof z.ZodUnion) return schema.options.map(knownOf).reduce(joined)
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault
  ) {
    return knownOf(schema.def.innerType)
  }
  return { fields: new Map(), element: undefined }
}

function joined(a: Known, b: Known): Known {
  const fields = new Map(a.fields)
  for (const [name, inner] of b.fields) {
    const present = fields.get(name)
    fields.set(name, present ? joined(present, inner) : inner)
  }
  return {
    fields,
    element: a.element && b.element ? joined(a.element, b.element) : (a.element ?? b.element),
  }
}
