import { readFileSync } from 'node:fs'

/** The version of this build, of package.json. */
export function productVersion(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  )
  return String((manifest as { version?: unknown }).version)
}
