import { neutralise } from '#lib/neutralise.ts'
import { shown } from '../shown.ts'
import type { Ranked } from './item.ts'

/**
 * An item as it may be shown: fence tokens, invisible characters and credentials are gone from its
 * texts, and `signals.suspicious` names what looks like an instruction. Every item that leaves the
 * service as part of a ranking goes through here.
 */
export function neutralised(ranked: Ranked): Ranked {
  const { item, signals } = ranked
  const text = neutralise(item.text)
  const title = item.title === null ? undefined : neutralise(item.title)
  const suspicious = [...new Set([...text.suspicious, ...(title?.suspicious ?? [])])]
  return {
    ...ranked,
    item: {
      ...item,
      id: shown(item.id),
      text: text.text,
      title: title?.text ?? null,
      nodeKey: shown(item.nodeKey),
      sourcePath: shown(item.sourcePath),
      source: shown(item.source),
      provenance: shown(item.provenance),
    },
    signals: suspicious.length === 0 ? signals : { ...signals, suspicious },
  }
}
