/** Numbers distinct names in the order of their first appearance. */
export interface Registry {
  readonly names: readonly string[]
  /** The name's number, new or known. */
  number: (name: string) => number
  /** -1 for a name that has none. */
  find: (name: string) => number
}

/** Begins with the names given, which are distinct. */
export function createRegistry(first: readonly string[] = []): Registry {
  const names = [...first]
  const numbers = new Map(names.map((name, number) => [name, number]))
  return {
    names,
    number: (name) => {
      const known = numbers.get(name)
      if (known !== undefined) return known
      numbers.set(name, names.length)
      return names.push(name) - 1
    },
    find: (name) => numbers.get(name) ?? -1,
  }
}
