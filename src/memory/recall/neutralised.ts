import { neutralise } from '#lib/neutralise.ts'
import type { Ranked } from './item.ts'

/**
 * An item as it may be shown: fence tokens, invisible characters and credentials are gone from its
 * texts, and `signals.suspicious` names what looks like an instruction. Every text that leaves the
 * service as part of a ranking goes through here.
 */
export function neutralised(ranked: Ranked): Ranked {
  const { item, signals } = ranked
  const text = neutralise(item.text)
  const title = item.title === null ? undefined : neutralise(item.title)
  const suspicious = [...new Set([...text.suspicious, ...(title?.suspicious ?? [])])]
  return {
    ...ranked,
    item: { ...item, text: text.text, title: title?.text ?? null },
    signals: suspicious.length === 0 ? signals : { ...signals, suspicious },
  }
}
