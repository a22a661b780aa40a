import { renderContext } from '../../src/prompt/render-context.ts'

export const NONCE = '0123456789abcdef'
const DEFAULT_BUDGET_CHARS = 12_000

/** An answer of `POST /context` with these sections of memory and nothing else. */
export function answer(
  sections: readonly { kind?: unknown; items?: unknown }[],
): Record<string, unknown> {
  return { memoryStatus: 'ok', memory: { sections } }
}

/** An answer with one section. */
export function itemsOf(items: readonly unknown[], kind = 'documents'): Record<string, unknown> {
  return answer([{ kind, items }])
}

export function render(response: unknown, budgetChars = DEFAULT_BUDGET_CHARS): string {
  return renderContext(response, { budgetChars, nonce: NONCE })
}

/** The rendered lines between the two lines with the nonce, without blank ones. */
export function fencedLines(response: unknown, budgetChars = DEFAULT_BUDGET_CHARS): string[] {
  const lines = render(response, budgetChars).split('\n')
  const from = lines.indexOf(`[fence ${NONCE}]`)
  return lines.slice(from + 1, lines.indexOf(`[end ${NONCE}]`)).filter((line) => line !== '')
}
