/**
 * Exact amounts of money: decimal text outside (`0.004512`), whole trillionths (10^-12) of the unit
 * inside. No amount ever passes through a binary float.
 */
const DECIMALS = 12
const AMOUNT = /^(\d{1,26})(?:\.(\d{1,12}))?$/

/** The trillionths of an amount. Throws a RangeError for what is no amount. */
export function toTrillionths(text: string): bigint {
  const [, whole, fraction = ''] = AMOUNT.exec(text) ?? []
  if (whole === undefined) throw new RangeError('Cannot read the amount: it is no decimal')
  return BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

/** The shortest text of an amount that is not negative: `1.5`, `0`, `0.000003`. */
export function fromTrillionths(amount: bigint): string {
  const digits = amount.toString().padStart(DECIMALS + 1, '0')
  const fraction = digits.slice(-DECIMALS).replace(/0+$/, '')
  return digits.slice(0, -DECIMALS) + (fraction && `.${fraction}`)
}

/** One spelling for amounts that are equal. */
export function normalAmount(text: string): string {
  return fromTrillionths(toTrillionths(text))
}

/** The smaller of two amounts. */
export function smallerAmount(a: string, b: string): string {
  return toTrillionths(a) <= toTrillionths(b) ? a : b
}
