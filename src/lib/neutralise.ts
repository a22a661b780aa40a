import { stripFence } from './fence.ts'
import { composeCompatible, dropInvisible } from './invisible.ts'
import { redactCredentials } from './redact.ts'
import { findSuspicious, holdsHiddenLetters } from './suspicious.ts'

export interface Neutralised {
  /** The words as written, without what is invisible, without tags of the fence and credentials. */
  text: string
  /** Names of instruction-like patterns, and `hidden_text`, `fence_tag`; empty for ordinary text. */
  suspicious: string[]
}

/**
 * Makes remembered text safe to hand to a model: invisible, bidirectional and control characters and
 * tags of the memory fence are removed, credentials redacted. Everything else stays as written; what
 * reads like an order is named, not removed. Linear; running it again on its text changes nothing.
 */
export function neutralise(text: string): Neutralised {
  const visible = dropInvisible(text)
  const redacted = redactSpelled(visible)
  const stripped = stripFence(redacted)
  const suspicious = findSuspicious(visible)
  if (text !== visible && holdsHiddenLetters(text)) suspicious.push('hidden_text')
  if (stripped !== redacted) suspicious.push('fence_tag')
  return {
    text: stripped === redacted ? redacted : stripFence(redactSpelled(stripped)),
    suspicious,
  }
}

/** Also finds credentials in full-width letters; only then is the text folded to plain ones. */
function redactSpelled(text: string): string {
  const redacted = redactCredentials(text)
  const plain = composeCompatible(redacted)
  if (plain === redacted) return redacted
  const plainRedacted = redactCredentials(plain)
  return plainRedacted === plain ? redacted : plainRedacted
}
