import { ACCESS } from './tables/access.ts'
import { CONTENT } from './tables/content.ts'
import { JOURNAL } from './tables/journal.ts'
import { MEMORY } from './tables/memory.ts'
import { MEMORY_SERVICE } from './tables/memory-service.ts'
import { PROCESS } from './tables/process.ts'
import { REQUESTS } from './tables/requests.ts'
import { WORK } from './tables/work.ts'

/** Every metric by topic: what is exported and the page about it are both made from this. */
export const TOPICS = {
  requests: REQUESTS,
  access: ACCESS,
  work: WORK,
  journal: JOURNAL,
  memory: { ...MEMORY, ...MEMORY_SERVICE },
  content: CONTENT,
  process: PROCESS,
} as const

export const METRICS = {
  ...REQUESTS,
  ...ACCESS,
  ...WORK,
  ...JOURNAL,
  ...MEMORY,
  ...MEMORY_SERVICE,
  ...CONTENT,
  ...PROCESS,
} as const

export type MetricName = keyof typeof METRICS
