import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Where npm run bench:install puts the peers. */
export const PEERS_FOLDER = join(import.meta.dirname, '../../.bench/peers')

export function arePeersInstalled(): boolean {
  return existsSync(join(PEERS_FOLDER, 'node_modules'))
}

/** A module of a peer. The compiler does not know it: the caller says the little that it uses of it. */
export function loadPeer(name: string): unknown {
  return createRequire(join(PEERS_FOLDER, 'package.json'))(name)
}

export function peerVersion(name: string): string {
  const path = join(PEERS_FOLDER, 'node_modules', name, 'package.json')
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
