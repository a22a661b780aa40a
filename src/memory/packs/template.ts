/** A text with places for values: `file:<repo owner/name>:<path>` or `file:{repo}:{path}`. */
export type Template = readonly Piece[]
type Piece = { literal: string } | { name: string }

const PLACE = /<([A-Za-z_]\w*)(?:[ \t][^<>]*)?>|\{([A-Za-z_]\w*)\}/g

/** What stands in angle brackets after the name is a hint for readers. */
export function parseTemplate(text: string): Template {
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(PLACE)) {
    if (match.index > end) pieces.push({ literal: text.slice(end, match.index) })
    pieces.push({ name: match[1] ?? match[2] ?? '' })
    end = match.index + match[0].length
  }
  if (end < text.length) pieces.push({ literal: text.slice(end) })
  return pieces
}

export function namesOf(template: Template): string[] {
  return template.flatMap((piece) => ('name' in piece ? [piece.name] : []))
}

/** Whether two places touch, so that no key tells where the first value ends. */
export function hasTouchingPlaces(template: Template): boolean {
  return template.some((piece, index) => {
    const next = template[index + 1]
    return 'name' in piece && next !== undefined && 'name' in next
  })
}

export type Filled = { ok: true; text: string } | { ok: false; missing: string }

export function fillTemplate(
  template: Template,
  valueOf: (name: string) => string | undefined,
): Filled {
  let text = ''
  for (const piece of template) {
    const part = 'literal' in piece ? piece.literal : valueOf(piece.name)
    if (part === undefined) return { ok: false, missing: 'name' in piece ? piece.name : '' }
    text += part
  }
  return { ok: true, text }
}

/**
 * The values that make a text of a template, each at least one character and equal wherever its name is
 * repeated; undefined when there are none. Of several ways the one with the shortest first values.
 * Looks at no more than {@link MAX_STEPS} ways, so a hostile template costs no more than a long one.
 */
export function matchTemplate(
  template: Template,
  text: string,
): ReadonlyMap<string, string> | undefined {
  const search = { text, template, values: new Map<string, string>(), steps: MAX_STEPS }
  return fits(search, 0, 0) ? search.values : undefined
}

const MAX_STEPS = 20_000

interface Search {
  text: string
  template: Template
  values: Map<string, string>
  steps: number
}

function fits(search: Search, index: number, start: number): boolean {
  const { text, template, values } = search
  const piece = template[index]
  if (piece === undefined) return start === text.length
  if ((search.steps -= 1) < 0) return false
  const known = 'literal' in piece ? piece.literal : values.get(piece.name)
  if (known !== undefined) {
    return text.startsWith(known, start) && fits(search, index + 1, start + known.length)
  }
  if (!('name' in piece)) return false
  for (const end of endsOf(search, index, start)) {
    values.set(piece.name, text.slice(start, end))
    if (fits(search, index + 1, end)) return true
    if (search.steps < 0) break
  }
  values.delete(piece.name)
  return false
}

/** Where the value of a place may end: before each occurrence of the literal after it, or at the end. */
function* endsOf({ text, template }: Search, index: number, start: number): Generator<number> {
  const next = template[index + 1]
  if (next === undefined) {
    if (start < text.length) yield text.length
    return
  }
  const literal = 'literal' in next ? next.literal : ''
  for (let end = text.indexOf(literal, start + 1); end !== -1 && end <= text.length;) {
    yield end
    if (end === text.length) return
    end = text.indexOf(literal, end + 1)
  }
}
