import { AppError } from '#lib/errors.ts'
import type { BlobStore } from './store.ts'

/** The same store; each operation in which the store fails is told by its name. */
export function observedStore(
  store: BlobStore,
  failed: (operation: keyof BlobStore) => void,
): BlobStore {
  const tell = (operation: keyof BlobStore, error: unknown) => {
    if (error instanceof AppError && error.code === 'content_unavailable') failed(operation)
  }
  const noted = async <T>(operation: keyof BlobStore, work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      tell(operation, error)
      throw error
    }
  }
  return {
    put: (key, source, signal) => noted('put', () => store.put(key, source, signal)),
    remove: (key) => noted('remove', () => store.remove(key)),
    check: () => noted('check', () => store.check()),
    async *get(key, range) {
      try {
        yield* store.get(key, range)
      } catch (error) {
        tell('get', error)
        throw error
      }
    },
  }
}
