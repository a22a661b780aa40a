/** Numbers distinct names in the order of their first appearance. */
export interface Registry {
  readonly names: readonly string[]
  /** The name's number, new or known. */
  number: (name: string) => number
  /** -1 for a name that has none. */
  find: (name: string) => number
}

export function createRegistry(): Registry {
  const names: string[] = []
  const numbers = new Map<string, number>()
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
