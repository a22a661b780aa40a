const DEFAULT_BUDGET_CHARS = 12_000

/**
 * The budget of the context section in characters, from the text of its setting. Anything but a
 * positive integer means the default, 12,000.
 */
export function contextBudget(value: string | undefined): number {
  const text = value?.trim() ?? ''
  if (!/^\+?\d+$/.test(text)) return DEFAULT_BUDGET_CHARS
  const chars = Number(text)
  return Number.isSafeInteger(chars) && chars > 0 ? chars : DEFAULT_BUDGET_CHARS
}
