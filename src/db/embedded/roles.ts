import { createHmac } from 'node:crypto'
import type { Database } from '#db/sql.ts'

/** `owner` makes and changes tables; `app` reads and writes rows and can do nothing else. */
export type Role = 'owner' | 'app'

export const ROLE_NAMES: Readonly<Record<Role, string>> = {
  owner: 'strata_owner',
  app: 'strata_app',
}

export const DATABASES = ['control_plane', 'memory'] as const

/** Derived, so that there is one secret to keep and nothing to get out of step. */
export function rolePassword(superuserPassword: string, role: Role): string {
  return createHmac('sha256', superuserPassword).update(ROLE_NAMES[role]).digest('base64url')
}

/** Makes both roles, without any right beyond logging in. `sql` is the superuser's; safe to repeat. */
export async function createRoles(sql: Database, superuserPassword: string): Promise<void> {
  for (const role of ['owner', 'app'] as const) {
    const name = ROLE_NAMES[role]
    const [present] = await sql`
      select 1
      from pg_roles
      where rolname = ${name}`
    if (present) continue
    // A role's password cannot be a parameter; this one is base64url, which needs no escaping.
    const password = rolePassword(superuserPassword, role)
    await sql.unsafe(`
      create role ${name}
      login nosuperuser nocreatedb nocreaterole nobypassrls
      password '${password}'`)
  }
}

/** Makes an empty database of the owner. `sql` is the superuser's, in another database; safe to repeat. */
export async function createDatabase(sql: Database, name: string): Promise<void> {
  const [present] = await sql`
    select 1
    from pg_database
    where datname = ${name}`
  if (!present) await sql`create database ${sql(name)} owner ${sql(ROLE_NAMES.owner)}`
}

/**
 * Lets the application role read and write the rows of every table that the owner has and will have, and
 * nobody else connect. Temporary tables are its only DDL. `sql` is the superuser's, in the database `name`;
 * safe to repeat.
 */
export async function grantRights(sql: Database, name: string): Promise<void> {
  const owner = sql(ROLE_NAMES.owner)
  const app = sql(ROLE_NAMES.app)
  await sql`revoke all on database ${sql(name)} from public`
  await sql`grant connect, temporary on database ${sql(name)} to ${app}`
  await sql`revoke create on schema public from public`
  await sql`grant usage on schema public to ${app}`
  await sql`
    alter default privileges for role ${owner}
    grant select, insert, update, delete on tables to ${app}`
  await sql`
    alter default privileges for role ${owner}
    grant usage, select on sequences to ${app}`
  await sql`
    alter default privileges for role ${owner}
    grant usage on schemas to ${app}`
}
