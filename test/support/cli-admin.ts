import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { loopbackServer, person } from './cli.ts'
import { providerAt } from './context.ts'
import { testTenant } from './ctx.ts'
import type { Database } from '#db/sql.ts'
import type { TestMemory } from './memory.ts'

/** A person with the key of the admin of a new tenant, in a repository; memory is away unless given. */
export async function adminPerson(t: TestContext, db: Database, memory?: TestMemory) {
  const provider = memory && { ...providerAt('http://memory.invalid'), fetch: memory.fetch }
  const url = await loopbackServer(t, db, provider)
  const tenant = await testTenant(db)
  const someone = person(t, { CONTROL_PLANE_SERVER: url, CONTROL_PLANE_API_KEY: tenant.key })
  mkdirSync(join(someone.folder, '.git'))
  /** The answer in words; fails unless it exits with 0. */
  const say = async (...args: string[]) => {
    const { code, out, err } = await someone.run(...args)
    assert.equal(code, 0, `${args.join(' ')}: ${err}`)
    return out
  }
  return { ...someone, url, tenant, say }
}
