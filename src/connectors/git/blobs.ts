import { startGit } from './git.ts'
import type { Git } from './git.ts'

const LINE_FEED = 0x0a

/**
 * The contents of blobs in the order asked for, one at a time, raw: no filter, no text conversion.
 * Undefined for an object that the repository does not hold (a partial clone). The caller bounds the
 * sizes: it knows them from the tree.
 */
export async function* readBlobs(
  git: Git,
  shas: readonly string[],
): AsyncGenerator<Buffer | undefined> {
  if (shas.length === 0) return
  const { process, ended } = startGit(git, ['cat-file', '--batch'])
  try {
    process.stdin.end(shas.map((sha) => `${sha}\n`).join(''))
    let buffered: Buffer = Buffer.alloc(0)
    const parts = (process.stdout as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
    const more = async (): Promise<boolean> => {
      const next = await parts.next()
      if (next.done === true) return false
      buffered = buffered.length === 0 ? next.value : Buffer.concat([buffered, next.value])
      return true
    }
    for (let index = 0; index < shas.length; index += 1) {
      while (!buffered.includes(LINE_FEED)) if (!(await more())) break
      const lineEnd = buffered.indexOf(LINE_FEED)
      if (lineEnd === -1) break
      const size = blobSize(buffered.toString('latin1', 0, lineEnd))
      buffered = buffered.subarray(lineEnd + 1)
      if (size === undefined) {
        yield undefined
        continue
      }
      while (buffered.length <= size) if (!(await more())) break
      yield Buffer.from(buffered.subarray(0, size))
      buffered = buffered.subarray(size + 1)
    }
    await ended
  } finally {
    process.kill()
  }
}

/** `<sha> blob <size>`, or `<sha> missing`. */
function blobSize(line: string): number | undefined {
  const match = /^[0-9a-f]+ blob (\d+)$/.exec(line)
  return match ? Number(match[1]) : undefined
}
