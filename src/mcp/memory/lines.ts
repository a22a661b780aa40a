import type { ContextPack, SearchHit } from '#contract/memory-context.ts'
import type { GraphEdge, GraphNode } from '#contract/memory-graph.ts'
import type { Line } from '../fenced.ts'

type PackItem = ContextPack['sections'][number]['items'][number]

/** Longest text of a node that was asked for by its key. */
const MAX_NODE_CHARS = 8000

export function packLine(section: string, item: PackItem): Line {
  const { id, kind, title, text, source_path: source, conflict } = item
  return {
    text: said({
      id: `${section}, ${kind}, ${id}`,
      title,
      text,
      more: [source && `source: ${source}`, conflict && 'contradicts another fact here'],
    }),
    isSuspicious: isSuspicious(item.signals),
  }
}

export function hitLine({ id, kind, title, text, node_key: key, signals }: SearchHit): Line {
  const more = [key !== null && `node: ${key}`]
  return {
    text: said({ id: `${kind}, ${id}`, title, text, more }),
    isSuspicious: isSuspicious(signals),
  }
}

/** A node with all that is known about it. */
export function nodeLine(node: GraphNode): Line {
  const { aliases, properties, source_path: source, valid_to: end } = node
  return {
    text: said({
      id: nodeId(node),
      title: node.title,
      text: node.text,
      more: [
        aliases.length > 0 && `aliases: ${aliases.join(', ')}`,
        Object.keys(properties).length > 0 && `properties: ${JSON.stringify(properties)}`,
        source && `source: ${source}`,
        `since ${node.valid_from}${end === null ? '' : ` until ${end}`}`,
      ],
    }),
    maxChars: MAX_NODE_CHARS,
    isSuspicious: node.suspicious !== undefined,
  }
}

/** A node in a word or two. */
export function shortNode(node: GraphNode): Line {
  return {
    text: said({ id: nodeId(node), title: node.title, text: '', more: [] }),
    maxChars: 300,
    isSuspicious: node.suspicious !== undefined,
  }
}

export function edgeLine(edge: GraphEdge): Line {
  const { subject, predicate, object, fact_id: id, evidence, confidence, valid_from: from } = edge
  const about = [id ?? 'link', evidence, `confidence ${confidence}`, from && `since ${from}`]
  return { text: `${subject} —${predicate}→ ${object} (${about.filter(Boolean).join(', ')})` }
}

function nodeId({ key, kind, namespace, placeholder }: GraphNode): string {
  return `${key}, ${kind} in ${namespace}${placeholder ? ', not described yet' : ''}`
}

interface Said {
  id: string
  title: string | null
  text: string
  more: readonly (string | false | null | undefined)[]
}

function said({ id, title, text, more }: Said): string {
  const body = [title !== null && !text.startsWith(title) && title, text].filter(Boolean).join(': ')
  const rest = more.filter((one) => typeof one === 'string' && one !== '')
  return [`[${id}]`, body, ...rest.map((one) => `(${String(one)})`)].join(' ')
}

function isSuspicious(signals: Record<string, unknown>): boolean {
  return signals['suspicious'] !== undefined
}
