/**
 * Sized for a machine of 2 GB that also runs us: about 300 MB for the server under load, 25 MB when idle.
 * Given on the command line, so that a newer version of ours changes them for an existing database too.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  max_connections: '100',
  shared_buffers: '192MB',
  effective_cache_size: '768MB',
  work_mem: '8MB',
  maintenance_work_mem: '64MB',
  max_wal_size: '512MB',
  min_wal_size: '64MB',
  checkpoint_timeout: '10min',
  wal_compression: 'on',
  random_page_cost: '1.1',
  // Short queries at high concurrency: neither parallel workers nor compilation pay for themselves.
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  password_encryption: 'scram-sha-256',
  // Failed statements are reported by us; the server's log would keep the values they carried.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  unix_socket_permissions: '0700',
}

/** For databases that are thrown away whole: no crash survives, everything is several times faster. */
const THROWAWAY: Readonly<Record<string, string>> = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum_naptime: '15s',
}

/** Where the server listens: on a socket in a folder of our own, or on a loopback port. */
export type Listen = { socketFolder: string } | { port: number }

/** The port is part of a socket's name; nothing listens on it. */
export const SOCKET_PORT = 5432

export function serverArguments(
  data: string,
  listen: Listen,
  { fsync, maxConnections }: { fsync: boolean; maxConnections: number | undefined },
): string[] {
  const place =
    'socketFolder' in listen
      ? { unix_socket_directories: listen.socketFolder, listen_addresses: '', port: SOCKET_PORT }
      : { unix_socket_directories: '', listen_addresses: '127.0.0.1', port: listen.port }
  const most = maxConnections === undefined ? {} : { max_connections: String(maxConnections) }
  const all = { ...SETTINGS, ...(fsync ? {} : THROWAWAY), ...most, ...place }
  return ['-D', data, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
