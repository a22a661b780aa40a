/** What repeated measurements of one thing say. */
export interface Summary {
  median: number
  min: number
  max: number
}

/** The value that a share `q` of the samples does not exceed; NaN without samples. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = samples.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const [low, high] = [sorted[middle - 1], sorted[middle]]
  if (sorted.length % 2 === 1 || low === undefined || high === undefined) return high ?? Number.NaN
  return (low + high) / 2
}

export function summary(samples: readonly number[]): Summary {
  return { median: median(samples), min: Math.min(...samples), max: Math.max(...samples) }
}

/** The median of the quotients of two series that were measured in turn, round by round. */
export function medianRatio(of: readonly number[], to: readonly number[]): number {
  return median(of.map((value, round) => value / (to[round] ?? Number.NaN)))
}

/** `1,234`, `12.3`, `0.123`: three digits are enough for what varies by a tenth. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3
  return value.toLocaleString('en-US', {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  })
}

/** `1,234 (1,100..1,300)`. */
export function spread({ median: middle, min, max }: Summary): string {
  return `${number(middle)} (${number(min)}..${number(max)})`
}
