const NUL = 0

export interface TokenSplitter {
  /** The tokens that end inside this chunk. */
  push: (chunk: Buffer) => Buffer[]
}

/**
 * Splits NUL-separated output as it arrives. A token longer than `maxBytes` is cut there and the rest of
 * it is dropped, so a hostile commit message or file name takes no more memory than that.
 */
export function splitTokens(maxBytes: number): TokenSplitter {
  let pending: Buffer[] = []
  let size = 0
  const keep = (part: Buffer): void => {
    const room = maxBytes - size
    if (room <= 0 || part.length === 0) return
    const kept = part.length > room ? part.subarray(0, room) : part
    pending.push(kept)
    size += kept.length
  }
  const take = (): Buffer => {
    const token = pending.length === 1 && pending[0] ? pending[0] : Buffer.concat(pending)
    pending = []
    size = 0
    return token
  }
  return {
    push(chunk) {
      const tokens: Buffer[] = []
      let start = 0
      for (let end = chunk.indexOf(NUL); end !== -1; end = chunk.indexOf(NUL, start)) {
        keep(chunk.subarray(start, end))
        tokens.push(take())
        start = end + 1
      }
      keep(chunk.subarray(start))
      return tokens
    },
  }
}
