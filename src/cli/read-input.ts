import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'
import type { Io } from './io.ts'

/** Standard input to its end, as text. Throws `CliError` when it is larger than allowed or not UTF-8. */
export async function readInput(io: Io, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of io.stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxBytes) throw new CliError(`Cannot read standard input: over ${maxBytes} bytes`)
    chunks.push(bytes)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new CliError('Cannot read standard input: it is not UTF-8', { cause })
  }
}

/** The text of a file, or with `-` of standard input. Throws `CliError` for what cannot be read. */
export async function readText(io: Io, path: string, maxBytes: number): Promise<string> {
  if (path === '-') return await readInput(io, maxBytes)
  const file = resolve(io.cwd, path)
  return await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError(`Cannot read ${file}: ${reason(cause)}`, { cause })
  })
}
