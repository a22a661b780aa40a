import { z } from 'zod'

/** What a JSON Schema says about one value, as far as limits go. */
export interface Rules {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  maxLength?: number
  minimum?: number
  maximum?: number
  maxItems?: number
  properties?: Record<string, Rules>
  items?: Rules
  anyOf?: Rules[]
  oneOf?: Rules[]
  allOf?: Rules[]
  $defs?: Record<string, Rules>
}

interface Step {
  name: string | number
  /** Fields beside it that tell which alternative is meant. */
  beside: Record<string, unknown>
}

/** A place in what a caller sends that holds no object of named fields. */
export interface Leaf {
  steps: readonly Step[]
  rules: Rules
}

const MAX_DEPTH = 12

/** Every such place of a schema, through objects, lists and alternatives; a list is a place too. */
export function leavesOf(type: z.ZodType): Leaf[] {
  const root = z.toJSONSchema(type, { io: 'input', unrepresentable: 'any' }) as Rules
  return walk(root, root.$defs ?? {}, [])
}

function walk(rules: Rules, defs: Record<string, Rules>, steps: readonly Step[]): Leaf[] {
  if (steps.length > MAX_DEPTH) return []
  const target = defs[rules.$ref?.replace('#/$defs/', '') ?? '']
  if (target) return walk(target, defs, steps)
  const alternatives = [rules.anyOf, rules.oneOf, rules.allOf].flatMap((list) => list ?? [])
  if (alternatives.length > 0) return alternatives.flatMap((one) => walk(one, defs, steps))
  const below = (one: Rules, name: string | number, beside = {}) =>
    walk(one, defs, [...steps, { name, beside }])
  if (rules.properties) {
    const fields = Object.entries(rules.properties)
    const telling = fields.flatMap(([name, one]) =>
      one.const === undefined ? [] : [[name, one.const]],
    )
    return fields.flatMap(([name, one]) => below(one, name, Object.fromEntries(telling)))
  }
  const items = rules.items ? below(rules.items, 0) : []
  return [{ steps, rules }, ...items]
}

/** A body with just this value at the place of a leaf. */
export function bodyWith({ steps }: Leaf, value: unknown): unknown {
  return steps.reduceRight<unknown>(
    (inner, { name, beside }) =>
      typeof name === 'number' ? [inner] : { ...beside, [name]: inner },
    value,
  )
}

/** True when the value is refused at the leaf: there, inside it, or where alternatives part before it. */
export function isRefusedAt(type: z.ZodType, leaf: Leaf, value: unknown): boolean {
  const { error } = type.safeParse(bodyWith(leaf, value))
  const at = leaf.steps.map(({ name }) => name)
  return (error?.issues ?? []).some(({ code, path }) => {
    const isSame = path.slice(0, at.length).every((step, index) => step === at[index])
    // A list may be refused as a whole for what is in it.
    const isOfList = typeof at.at(-1) === 'number' && path.length === at.length - 1
    return isSame && (path.length >= at.length || isOfList || code === 'invalid_union')
  })
}
