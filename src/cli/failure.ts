import { TransportError } from '#client/client.ts'
import { GitError } from '#connectors/git/git.ts'
import { AppError } from '#lib/errors.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'
import type { Credential } from './credentials.ts'
import { PROGRAM, usageLine } from './help.ts'
import { UsageError } from './parse-argv.ts'

/** How a command ended that did not succeed, in words for a person and as an exit code. */
export interface Failure {
  readonly exitCode: 1 | 2
  readonly message: string
  /** Further lines: what exactly was refused, what to do about it. */
  readonly hints: readonly string[]
}

/** `used` is the credential that was sent, unless the command was given one to try. */
export function describeFailure(error: unknown, used?: Credential): Failure {
  if (error instanceof AppError) return refusal(error, used)
  if (error instanceof TransportError) return noAnswer(error)
  if (error instanceof UsageError) {
    const hints = error.command
      ? [usageLine(error.command)]
      : [`"${PROGRAM} --help" lists commands`]
    return { exitCode: 2, message: error.message, hints }
  }
  if (error instanceof CliError) {
    return { exitCode: 2, message: error.message, hints: hintLines(error.hint) }
  }
  if (error instanceof GitError) {
    return { exitCode: 2, message: `${error.problem}: ${error.message}`, hints: [] }
  }
  return { exitCode: 1, message: `unexpected: ${reason(error)}`, hints: [] }
}

const HINTS: Partial<Record<ErrorCode, string>> = {
  invalid_permissions: '"control-plane key create --help" names those there are',
  permission_denied: '"control-plane whoami" shows what the credential allows',
  stale_claim: 'the claim is no longer yours; "control-plane task claim" takes the task anew',
  claim_expired: 'its lease ended; "control-plane task claim" takes the task anew',
  claim_not_active: 'it has ended; "control-plane task claim" takes the task anew',
  task_claimed: 'somebody works on it; only the holder of the claim may do this',
  version_conflict: 'somebody changed it meanwhile; look at it and repeat',
  run_in_progress: 'end the run first: "control-plane run succeed" or "run fail"',
  session_expired: 'open another one: "control-plane session open"',
  session_not_active: 'open another one: "control-plane session open"',
  secret_refused: 'leave the credential out; nothing was recorded',
}

function refusal({ code, message, details }: AppError, used: Credential | undefined): Failure {
  const faults = Array.isArray(details['errors']) ? (details['errors'] as unknown[]) : []
  const required = details['required']
  return {
    exitCode: 1,
    message: `${code}: ${message}`,
    hints: [
      ...faults.flatMap((fault) => faultLine(fault, message)),
      ...(typeof required === 'string' ? [`needed: ${required}`] : []),
      ...holderLine(details),
      ...hintLines(code === 'invalid_credentials' ? badKey(used) : HINTS[code]),
    ],
  }
}

/** Where the refused key came from decides what to do about it. */
function badKey(used: Credential | undefined): string {
  const because = 'is unknown to this server, expired or revoked'
  if (used === undefined) return `the key ${because}`
  const why = `the key of ${used.found} ${because}`
  if (used.from === 'login') return `${why}; "control-plane login" stores another one`
  return used.from === 'local' ? `${why}; the server may belong to another data folder` : why
}

/** Nothing for the fault that has been told already. */
function faultLine(fault: unknown, told: string): string[] {
  const { loc, message } = fault as { loc?: unknown; message?: unknown }
  if (typeof loc !== 'string' || typeof message !== 'string') return []
  return told.endsWith(message) ? [] : [`${loc}: ${message}`]
}

/** Who holds the claim that is in the way, and until when. */
function holderLine({ holder, holderId, expiresAt }: AppError['details']): string[] {
  const who = typeof holder === 'string' ? holder : holderId
  if (typeof who !== 'string' || typeof expiresAt !== 'string') return []
  return [`claimed by ${who} until ${expiresAt}`]
}

function noAnswer(error: TransportError): Failure {
  const { cause } = error
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const why = inner instanceof Error && error.status === undefined ? `: ${reason(inner)}` : ''
  const hint =
    error.status === undefined
      ? 'is it running, and is --server right? "npm start" starts one on this machine'
      : 'is this the address of a control plane of this version?'
  const code = error.status === undefined ? 'server_unreachable' : 'unexpected_answer'
  return { exitCode: 1, message: `${code}: ${error.message}${why}`, hints: hintLines(hint) }
}

function hintLines(hint: string | undefined): string[] {
  return hint === undefined ? [] : [`hint: ${hint}`]
}
