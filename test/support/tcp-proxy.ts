import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, NetConnectOpts, Socket } from 'node:net'
import type { TestContext } from 'node:test'
import type { DatabaseAddress } from '#db/sql.ts'

/** A wire between two programs that can be cut at any byte, or go dead without a word. */
export interface TcpProxy {
  port: number
  /** Connections made so far. */
  made: () => number
  /** Bytes that came from the far end so far. */
  carried: () => number
  /** Cuts what is open. */
  cut: () => void
  /** From now on what is open carries nothing and is not closed; new connections work. */
  freeze: () => void
}

interface ProxyOptions {
  /** Bytes towards the client after which a connection is cut; asked for once a connection. */
  cutAfter?: () => number
}

/** Relays to wherever `target` says when a connection is made; closed at the end of the test. */
export async function tcpProxy(
  t: TestContext,
  target: () => NetConnectOpts,
  { cutAfter = () => Infinity }: ProxyOptions = {},
): Promise<TcpProxy> {
  const open = new Set<{ near: Socket; far: Socket }>()
  let made = 0
  let carried = 0
  const server = createServer((near) => {
    made += 1
    const far = connect(target())
    const pair = { near, far }
    open.add(pair)
    const end = () => {
      near.destroy()
      far.destroy()
      open.delete(pair)
    }
    for (const socket of [near, far]) socket.on('error', end).on('close', end)
    near.on('data', (chunk: Buffer) => far.write(chunk))
    let left = cutAfter()
    far.on('data', (chunk: Buffer) => {
      carried += chunk.length
      near.write(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) near.end(() => end())
      // Whoever reads slowly on one side holds up the other.
      else if (near.writableNeedDrain) far.pause()
    })
    near.on('drain', () => far.resume())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    for (const { near, far } of open) {
      near.destroy()
      far.destroy()
    }
  }
  t.after(() => {
    cut()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    made: () => made,
    carried: () => carried,
    cut,
    freeze: () => {
      for (const { near, far } of open) {
        near.removeAllListeners('data').pause()
        far.removeAllListeners('data').pause()
      }
    },
  }
}

/** A database behind a proxy: where the proxy leads, and the address over it. */
export function behind(address: DatabaseAddress): {
  target: NetConnectOpts
  over: (port: number) => DatabaseAddress
} {
  if ('url' in address) {
    const url = new URL(address.url)
    const port = Number(url.port || 5432)
    const folder = url.searchParams.get('host')
    return {
      target:
        folder === null ? { host: url.hostname, port } : { path: `${folder}/.s.PGSQL.${port}` },
      over: (near) => {
        const other = new URL(url)
        other.searchParams.delete('host')
        other.host = `127.0.0.1:${near}`
        return { url: other.href }
      },
    }
  }
  const { socket, port: own, user, password, database } = address
  const credential = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  return {
    target: { path: `${socket}/.s.PGSQL.${own}` },
    over: (port) => ({ url: `postgres://${credential}@127.0.0.1:${port}/${database}` }),
  }
}
