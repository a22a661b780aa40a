/** One metric, as it is exported and explained. */
export interface MetricRow {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  /** Every value of a label is from a closed list: routes of the contract, codes, names of ours; never ids. */
  labels: readonly string[]
  /** Upper bounds in the metric's unit, of a histogram. */
  buckets?: readonly number[]
  /** Read from the database when it is asked for; absent where no database is, or does not answer. */
  read?: true
  en: string
  ru: string
  /** A PromQL expression that is worth waking somebody for; the numbers are to be fitted. */
  alert: string
}
