import { hostname } from 'node:os'
import { closeSession, heartbeatSession, listSessions, openSession } from '#contract/sessions.ts'
import type { Session } from '#contract/sessions.ts'
import { AppError } from '#lib/errors.ts'
import { CliError } from './cli-error.ts'
import type { Cli } from './cli.ts'
import { command } from './command.ts'
import { given, wholeNumber } from './option-values.ts'
import { PAGE_OPTIONS, showPage } from './pages.ts'
import {
  forgetClaim,
  forgetSession,
  listClaims,
  recallSession,
  rememberedBy,
  rememberSession,
} from './remembered.ts'

/** A person does not send heartbeats: the longest lease that a server grants by default. */
export const PERSON_TTL_SECONDS = 3600

const open = command({
  name: 'session open',
  summary: 'Open a session and use it for claims made here from now on',
  details: ['Not needed before "task claim", which opens one by itself.'],
  options: {
    ttl: { value: 'seconds', summary: `Lease (${PERSON_TTL_SECONDS})` },
    name: { value: 'name', summary: 'What others see it as (control-plane CLI)' },
  },
  async run(cli, { values: { ttl, name } }) {
    const session = await openNew(cli, wholeNumber(ttl, '--ttl'), name)
    cli.screen.result(session, () => {
      cli.screen.line(`Session ${session.id} until ${session.expiresAt}`)
    })
  },
})

const list = command({
  name: 'session list',
  summary: 'List my sessions, newest first',
  options: PAGE_OPTIONS,
  async run(cli, { values: { limit, cursor } }) {
    const page = await cli.call(listSessions, { query: given({ limit, cursor }) })
    showPage(cli.screen, page, {
      headings: ['SESSION', 'STATUS', 'CLIENT', 'UNTIL'],
      row: ({ id, status, clientName, expiresAt }) => [id, status, clientName, expiresAt],
      none: 'no sessions',
    })
  },
})

const close = command({
  name: 'session close',
  args: '[session]',
  summary: 'Close a session and release its claims; without an id, the one used here',
  async run(cli, { positionals: [named] }) {
    const remembered = await rememberedBy(cli)
    const known = await recallSession(remembered)
    const id = named ?? known?.sessionId
    if (id === undefined) throw new CliError('No session is known here', { hint: 'name its id' })
    const session = await cli
      .call(closeSession, { params: { id } })
      .catch(async (error: unknown) => {
        if (isEnded(error) && id === known?.sessionId) await forgetSession(remembered)
        throw error
      })
    if (id === known?.sessionId) await forgetSession(remembered)
    for (const claim of await listClaims(remembered)) {
      if (claim.sessionId === id) await forgetClaim(remembered, claim.taskId)
    }
    cli.screen.result(session, () => cli.screen.line(`Closed session ${session.id}`))
  },
})

/** The session for a new claim: the one used here while it lives (renewed), else a new one. */
export async function liveSession(cli: Cli, ttlSeconds?: number): Promise<string> {
  const known = await recallSession(await rememberedBy(cli))
  if (known) {
    const ttl = Math.max(known.ttlSeconds, ttlSeconds ?? 0)
    try {
      const renewed = await cli.call(heartbeatSession, {
        params: { id: known.sessionId },
        body: { ttlSeconds: ttl },
      })
      return renewed.id
    } catch (error) {
      if (!isEnded(error)) throw error
    }
  }
  return (await openNew(cli, ttlSeconds)).id
}

async function openNew(
  cli: Cli,
  ttlSeconds = PERSON_TTL_SECONDS,
  clientName = 'control-plane CLI',
): Promise<Session> {
  const session = await cli.call(openSession, {
    body: { clientName, ttlSeconds, metadata: { hostname: hostname().slice(0, 255) } },
  })
  await rememberSession(await rememberedBy(cli), {
    sessionId: session.id,
    ttlSeconds: session.ttlSeconds,
  })
  return session
}

function isEnded(error: unknown): boolean {
  const ended = ['session_expired', 'session_not_active', 'session_owner_mismatch', 'not_found']
  return error instanceof AppError && ended.includes(error.code)
}

export const sessionCommands = [open, list, close]
