export interface JsonNode {
  /** JSON Pointer (RFC 6901); empty for the value as a whole. */
  pointer: string
  /** The name under which it stands in its object; undefined in an array and at the root. */
  key: string | undefined
  value: unknown
}

/**
 * Every value inside a JSON value, itself first, in the order they stand. However deep the nesting,
 * it needs no call stack.
 */
export function* walkJson(root: unknown): Generator<JsonNode> {
  const open: JsonNode[] = [{ pointer: '', key: undefined, value: root }]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    const { pointer, value } = node
    if (typeof value !== 'object' || value === null) continue
    const isList = Array.isArray(value)
    const children = Object.entries(value).map(([key, child]) => ({
      pointer: `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
      key: isList ? undefined : key,
      value: child as unknown,
    }))
    for (const child of children.toReversed()) open.push(child)
  }
}
