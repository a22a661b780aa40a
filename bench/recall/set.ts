import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'

const Doc = z.object({
  id: z.string(),
  text: z.string(),
  title: z.string().optional(),
  caption: z.string().optional(),
  /** Of a message: who said it, when, in which conversation. */
  speaker: z.string().optional(),
  date: z.string().optional(),
  session: z.string().optional(),
})
export type Doc = z.output<typeof Doc>

const Corpora = z.record(z.string(), z.object({ docs: z.array(Doc) }))

const Question = z.object({
  id: z.string(),
  corpus: z.string(),
  text: z.string(),
  category: z.string(),
  gold: z.array(z.string()),
})
export type Question = z.output<typeof Question>

const File = z.object({
  name: z.string(),
  group_field: z.literal('session').optional(),
  corpora: Corpora.optional(),
  /** Another file of the folder whose corpora these questions are about. */
  corpora_from: z.string().optional(),
  queries: z.array(Question),
})

/** A set of texts and of questions whose answers somebody has marked in them. */
export interface EvalSet {
  name: string
  corpora: z.output<typeof Corpora>
  hasSessions: boolean
  questions: Question[]
}

/** Questions that have no answer in the texts tell nothing about finding one. */
const UNANSWERABLE = 'adversarial'

/** Reads a set; questions without marked answers, and those asked in order to mislead, are left out. */
export async function readSet(path: string): Promise<EvalSet> {
  const file = File.parse(JSON.parse(await readFile(path, 'utf8')))
  const questions = file.queries.filter(
    ({ gold, category }) => gold.length > 0 && category !== UNANSWERABLE,
  )
  const from = file.corpora_from
  const corpora =
    file.corpora ?? (from === undefined ? {} : await corporaOf(join(dirname(path), from)))
  const asked = new Set(questions.map(({ corpus }) => corpus))
  return {
    name: file.name,
    corpora: Object.fromEntries(Object.entries(corpora).filter(([name]) => asked.has(name))),
    hasSessions: file.group_field !== undefined,
    questions,
  }
}

async function corporaOf(path: string): Promise<z.output<typeof Corpora>> {
  return z.object({ corpora: Corpora }).parse(JSON.parse(await readFile(path, 'utf8'))).corpora
}
