/** What is read for an id, or undefined without one. */
export async function ifGiven<T>(
  id: string | null | undefined,
  read: (id: string) => Promise<T>,
): Promise<T | undefined> {
  return id === undefined || id === null ? undefined : await read(id)
}
