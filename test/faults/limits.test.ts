import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { recordObservations } from '#contract/memory.ts'
import { createTask, listTasks } from '#contract/tasks.ts'
import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import { jsonLog } from '#lib/log.ts'
import { createMemoryApp } from '#memory/app.ts'
import { testClient } from '../support/client.ts'
import { testTenant } from '../support/ctx.ts'
import { ownDatabase, ownServer } from '../support/db.ts'
import { MEMORY_SETTINGS } from '../support/memory.ts'
import { wholeApp } from '../support/whole.ts'

/** By the kind of trouble: the codes of PostgreSQL that mean it. */
const CODES = {
  disk_full: ['53100'],
  disk_failed: ['58030'],
  out_of_memory: ['53200'],
  too_many_connections: ['53300'],
  limit_reached: ['53000', '53400'],
  read_only: ['25006'],
  locked: ['55P03'],
  timed_out: ['57014'],
  conflict: ['40001', '40P01'],
} as const

const QUIET = jsonLog(
  () => {},
  () => new Date(),
)

interface Answered {
  status: number
  retryAfter: number
  code: string | undefined
  reason: string | undefined
  text: string
}

async function answered(response: Response): Promise<Answered> {
  const text = await response.text()
  return {
    status: response.status,
    retryAfter: Number(response.headers.get('retry-after') ?? Number.NaN),
    code: /"code":"(\w+)"/.exec(text)?.[1],
    reason: /"reason":"(\w+)"/.exec(text)?.[1],
    text,
  }
}

function assertTrouble(answer: Answered, reason: string): void {
  assert.deepEqual([answer.status, answer.code, answer.reason], [503, 'not_ready', reason])
  assert.ok(answer.retryAfter > 0, answer.text)
  assert.doesNotMatch(answer.text, /SECRET|pg_|relation|trigger|\/tmp/)
}

const create = async (client: ClientOptions, idempotencyKey = 'the same') =>
  await answered(await send(client, createTask, { body: { title: 'SECRET' }, idempotencyKey }))

async function titles(client: ClientOptions): Promise<number> {
  return (await call(client, listTasks, {})).items.length
}

/** A control plane over a database of its own, which its owner can bring into trouble. */
async function controlPlane(t: TestContext, options: { statementTimeoutMs?: number } = {}) {
  const { db: owner, address } = await ownDatabase(t, 'control-plane', 'owner')
  const db = connect(address('app'), { maxConnections: 2, appName: 'test', ...options })
  t.after(() => db.end({ timeout: 1 }))
  const { key, ctx } = await testTenant(owner)
  const app = wholeApp(db, null, { log: QUIET })
  return { owner, app, client: testClient(app, key), ctx, address, key }
}

/** Lets every new event meet this error until it is told to stop, or a number of times. */
async function failing(owner: Database, code: string, times = 1_000_000) {
  await owner.unsafe(`
    create sequence failures;
    grant usage on sequence failures to public;
    create function fail() returns trigger language plpgsql as $$
    begin
      if nextval('failures') <= ${times} then
        raise exception 'SECRET of the relation' using errcode = '${code}';
      end if;
      return new;
    end $$;
    create trigger fail before insert on events for each row execute function fail();`)
  return {
    stop: () =>
      owner.unsafe('drop trigger fail on events; drop function fail; drop sequence failures'),
    met: async () => {
      const [row] = await owner<{ met: number }[]>`select last_value::int as met from failures`
      return row?.met ?? 0
    },
  }
}

async function isSuperuser(address: DatabaseAddress): Promise<boolean> {
  const db = connect(address, { maxConnections: 1, appName: 'test' })
  const [row] = await db<{ isSuper: boolean }[]>`
    select rolsuper as is_super from pg_roles where rolname = current_user`
  await db.end({ timeout: 1 })
  return row?.isSuper === true
}

describe('a database that cannot do what is asked', () => {
  it('answers 503 with the reason and when to ask again, whatever it is, and nothing has changed', async (t) => {
    const { owner, client } = await controlPlane(t)
    for (const [kind, codes] of Object.entries(CODES)) {
      for (const code of codes) {
        const before = await titles(client)
        const trouble = await failing(owner, code)
        assertTrouble(await create(client, code), kind)
        assert.equal(await titles(client), before, code)
        // What the database undid for the sake of another is tried again by itself, and nothing else.
        assert.equal(await trouble.met(), kind === 'conflict' ? 4 : 1, code)
        await trouble.stop()
        const again = await create(client, code)
        assert.equal(again.status, 201, again.text)
        assert.equal(await titles(client), before + 1, code)
      }
    }
  })

  it('is asked again by itself when it undid a request for the sake of another, and told once', async (t) => {
    const { owner, app, client, ctx } = await controlPlane(t)
    const trouble = await failing(owner, '40P01', 2)
    const answer = await create(client)
    assert.equal(answer.status, 201, answer.text)
    assert.equal(await trouble.met(), 3)
    const events = await owner`
      select 1 from events
      where tenant_id = ${ctx.tenantId}
        and type = 'task.created'`
    assert.equal(events.length, 1)
    const metrics = await (await app.request('/metrics')).text()
    assert.match(metrics, /^journal_events_total\{type="task.created"\} 1$/m)
  })

  it('is our fault when the error is none of these', async (t) => {
    const { owner, client } = await controlPlane(t)
    await failing(owner, '42501')
    const { status, code, text } = await create(client)
    assert.deepEqual([status, code], [500, 'internal_error'])
    assert.doesNotMatch(text, /SECRET/)
  })
})

describe('real trouble', () => {
  it('with a full disk: what has no room is undone, and goes on when there is some', async (t) => {
    const disk = await tinyDisk(t)
    if (!disk) return t.skip('only an account that may mount a file system can fill one')
    const { open, embedded } = await ownServer(t)
    const db = await open('control-plane')
    const admin = connect(embedded.address('control_plane', 'superuser'), {
      maxConnections: 1,
      appName: 'test',
    })
    t.after(() => admin.end({ timeout: 1 }))
    const { key } = await testTenant(db)
    const client = testClient(wholeApp(db, null, { log: QUIET }), key)
    await admin.unsafe(`create tablespace tiny location '${disk}'`)
    await admin`alter table tasks set tablespace tiny`
    const body = { title: 'Large', description: 'x'.repeat(50_000) }
    const fill = async () => answered(await send(client, createTask, { body }))
    await admin`alter table tasks alter column description set storage external`
    let made = 0
    let full = await fill()
    for (; full.status === 201; full = await fill()) made += 1
    assertTrouble(full, 'disk_full')
    assert.equal(await titles(client), Math.min(made, 50))
    await admin`alter table tasks set tablespace pg_default`
    await admin`drop tablespace tiny`
    assert.equal((await fill()).status, 201)
    return undefined
  })

  it('with no connection left, or with a database that its operator made read-only', async (t) => {
    const { owner, address, key } = await controlPlane(t)
    const [row] = await owner<{ name: string }[]>`select current_database() as name`
    const alter = (change: string) => owner.unsafe(`alter database ${row?.name ?? ''} ${change}`)
    const createAnew = async () => {
      const db = connect(address('app'), { maxConnections: 1, appName: 'test' })
      t.after(() => db.end({ timeout: 1 }))
      return await create(testClient(wholeApp(db, null, { log: QUIET }), key), randomUUID())
    }
    // A superuser, as whom a server of somebody else's may be used here, is let in at any number.
    if (await isSuperuser(address('app'))) t.diagnostic('the connection limit binds no superuser')
    else {
      await alter('connection limit 0')
      assertTrouble(await createAnew(), 'too_many_connections')
      await alter('connection limit -1')
    }
    assert.equal((await createAnew()).status, 201)
    // That a key is used is noted outside a transaction, which takes the mode of the database.
    await owner`update api_keys set last_used_at = null`
    await alter('set default_transaction_read_only = on')
    assertTrouble(await createAnew(), 'read_only')
  })

  it('with a statement that takes too long', async (t) => {
    const { owner, client } = await controlPlane(t, { statementTimeoutMs: 300 })
    await owner.unsafe(`
      create function slow() returns trigger language plpgsql as $$
      begin perform pg_sleep(60); return new; end $$;
      create trigger slow before insert on events for each row execute function slow();`)
    assertTrouble(await create(client), 'timed_out')
    assert.equal(await titles(client), 0)
  })

  it('is told by memory in the same way', async (t) => {
    const { db: owner, address } = await ownDatabase(t, 'memory', 'owner')
    await owner.unsafe(`
      create function fail() returns trigger language plpgsql as $$
      begin raise exception 'SECRET' using errcode = '53100'; end $$;
      create trigger fail before insert on namespaces for each row execute function fail();`)
    const db = connect(address('app'), { maxConnections: 2, appName: 'test' })
    t.after(() => db.end({ timeout: 1 }))
    const settings = { ...MEMORY_SETTINGS, serverApiKey: undefined }
    const app = createMemoryApp({ db, log: QUIET, settings })
    const observation = {
      source: { system: 's', stream: 't', external_id: 'e' },
      kind: 'note',
      content: 'SECRET',
      occurred_at: '2026-01-01T00:00:00Z',
    }
    const body = { namespace: 'n', observations: [observation] } as never
    assertTrouble(
      await answered(await send(testClient(app, ''), recordObservations, { body })),
      'disk_full',
    )
  })
})

const run = promisify(execFile)

/** A folder on a file system of two megabytes; undefined where this account may not mount one. */
async function tinyDisk(t: TestContext): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'strata-disk-'))
  const mounting = run('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=0777', 'tmpfs', folder])
  const isMounted = await mounting.then(
    () => true,
    () => false,
  )
  t.after(async () => {
    if (isMounted) await run('umount', ['-l', folder])
    await rm(folder, { recursive: true, force: true })
  })
  return isMounted ? folder : undefined
}
