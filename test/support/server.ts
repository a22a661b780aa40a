import type { DatabaseAddress } from '#db/sql.ts'

/** `superuser` makes databases, `owner` makes tables, `app` is what the product runs as. */
export type TestRole = 'superuser' | 'owner' | 'app'

/** The server of this test run. An external server knows one account, which plays every role. */
export interface TestServer {
  external: boolean
  /** The name of every database of this run begins with it. */
  prefix: string
  addresses: Readonly<Record<TestRole, DatabaseAddress>>
}

const VARIABLE = 'STRATA_TEST_SERVER'

/** Hands the server on to the processes of the test files. */
export function publishServer(server: TestServer): void {
  process.env[VARIABLE] = JSON.stringify(server)
}

export function testServer(): TestServer {
  const text = process.env[VARIABLE]
  if (text === undefined) {
    throw new Error('No test server is running: use `npm test -- path/to/file.test.ts`')
  }
  return JSON.parse(text) as TestServer
}

/** The same server and account, another database. */
export function testAddress(server: TestServer, database: string, role: TestRole): DatabaseAddress {
  return inDatabase(server.addresses[role], database)
}

function inDatabase(address: DatabaseAddress, database: string): DatabaseAddress {
  if (!('url' in address)) return { ...address, database }
  const url = new URL(address.url)
  url.pathname = `/${database}`
  return { url: url.href }
}
