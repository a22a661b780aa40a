import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { call } from '#client/client.ts'
import { bootstrap } from '#contract/org.ts'
import { CliError } from './cli-error.ts'
import { clientFor } from './cli.ts'
import { command } from './command.ts'
import { required } from './option-values.ts'
import { readPrivate, writePrivate } from './private-file.ts'
import { registerClient } from './register-client.ts'
import { isLoopback } from './server.ts'

const SETTINGS_FILE = '.env'
const IAM_FILE = join('secrets', 'control-plane-iam.env')
const IAM_NOTICE = '# Filled in by "control-plane deploy account".\n'
const BOOTSTRAP_TOKEN = 'CP_BOOTSTRAP_TOKEN'
const REGISTRATION_TOKEN = 'IAM_REGISTRATION_TOKEN'

const secrets = command({
  name: 'deploy secrets',
  args: '[folder]',
  summary: 'Make the keys of an installation, in files for its containers',
  details: [
    `Writes ${SETTINGS_FILE} (the key of memory, the bootstrap token, empty addresses of the two databases) and`,
    `${IAM_FILE} into the folder (deploy), readable by you alone. A file that is there stays as it is.`,
  ],
  async run({ io, screen }, { positionals: [folder = 'deploy'] }) {
    const made = [
      await writeOnce(resolve(io.cwd, folder, SETTINGS_FILE), newSettings()),
      await writeOnce(resolve(io.cwd, folder, IAM_FILE), IAM_NOTICE),
    ]
    screen.result({ files: made }, () => {
      for (const { file, isNew } of made) screen.line(`${isNew ? 'Wrote' : 'Kept'} ${file}`)
    })
    screen.note(`next: set CP_DATABASE_URL and CB_DATABASE_URL in ${join(folder, SETTINGS_FILE)}`)
  },
})

const tenant = command({
  name: 'deploy bootstrap',
  args: '<slug>',
  summary: 'Create the first tenant and its administrator; works once',
  details: [
    `The bootstrap token is read from the variable ${BOOTSTRAP_TOKEN}. The key of the administrator is written`,
    'to a file that only you can read, and shown nowhere.',
  ],
  options: {
    name: { value: 'name', summary: 'Name of the tenant (its slug)' },
    admin: { value: 'name', summary: 'Name of the administrator (Administrator)' },
    out: { value: 'file', summary: 'Where the key goes (deploy/secrets/admin.key)' },
  },
  async run({ io, screen, server }, { positionals: [slug = ''], values }) {
    const token = io.env[BOOTSTRAP_TOKEN]
    if (!token) throw new CliError(`Cannot bootstrap: ${BOOTSTRAP_TOKEN} is not set`)
    refusePlain('bootstrap', server.origin)
    const { name = slug, admin = 'Administrator' } = values
    const out = resolve(io.cwd, values.out ?? join('deploy', 'secrets', 'admin.key'))
    if ((await readPrivate(out))?.trim()) {
      throw new CliError(`Cannot bootstrap: ${out} holds a key already`)
    }
    // Whether it can be written is found out before the key exists, which is given only once.
    await writePrivate(out, '')
    const body = { slug, name, displayName: admin }
    const made = await call(clientFor(server, token), bootstrap, { body, signal: io.signal })
    if (made.apiKey.key === null) throw new CliError('The server did not give a key')
    await writePrivate(out, `${made.apiKey.key}\n`)
    screen.result({ file: out, tenant: made.tenant, principal: made.principal }, () => {
      screen.line(
        `Created tenant ${made.tenant.slug} and ${made.principal.displayName}; key in ${out}`,
      )
    })
  },
})

const serviceAccount = command({
  name: 'deploy account',
  summary: 'Register the control plane as a client of an OpenID Connect issuer',
  details: [
    'Uses dynamic client registration (RFC 7591). The initial access token of the issuer, where it asks for',
    `one, is read from the variable ${REGISTRATION_TOKEN}. Client id and secret go to a file of settings that`,
    'only you can read; with CP_CONTEXT_AUTH=auto the next start uses them to call memory.',
  ],
  options: {
    issuer: { value: 'url', summary: 'The issuer, exactly as in its tokens' },
    out: { value: 'file', summary: `Where the settings go (deploy/${IAM_FILE})` },
    force: { summary: 'Put another client in place of the one that is there' },
  },
  async run({ io, screen }, { values }) {
    const issuer = required(values.issuer, '--issuer')
    const out = resolve(io.cwd, values.out ?? join('deploy', IAM_FILE))
    const before = await readPrivate(out)
    if (!values.force && before?.includes('CP_IAM_CLIENT_ID=')) {
      throw new CliError(`Cannot write ${out}: it names a client already`, {
        hint: '--force puts a new one in its place; the old one stays known to the issuer',
      })
    }
    refusePlain('register', issuer)
    const client = await registerClient(issuer, {
      initialAccessToken: io.env[REGISTRATION_TOKEN],
      signal: io.signal,
    })
    await writePrivate(
      out,
      `CP_IAM_ISSUER=${issuer}\nCP_IAM_CLIENT_ID=${client.id}\nCP_IAM_CLIENT_SECRET=${client.secret}\n`,
    )
    screen.result({ file: out, clientId: client.id }, () => {
      screen.line(`Registered client ${client.id}; settings in ${out}`)
    })
    screen.note('next: restart api, adapter and worker')
  },
})

async function writeOnce(file: string, text: string): Promise<{ file: string; isNew: boolean }> {
  if ((await readPrivate(file)) !== undefined) return { file, isNew: false }
  await writePrivate(file, text)
  return { file, isNew: true }
}

function newSettings(): string {
  return [
    '# postgres://account:password@host/control_plane and postgres://account:password@host/memory',
    'CP_DATABASE_URL=',
    'CB_DATABASE_URL=',
    `MEMORY_API_KEY=${newKey()}`,
    `${BOOTSTRAP_TOKEN}=${newKey()}`,
    '',
  ].join('\n')
}

function newKey(): string {
  return randomBytes(32).toString('base64url')
}

/** A secret is not sent where others on the way can read it. */
function refusePlain(what: string, url: string): void {
  if (!url.startsWith('http:') || isLoopback(url)) return
  throw new CliError(`Cannot ${what}: ${url} is not encrypted`)
}

export const deployCommands = [secrets, tenant, serviceAccount]
