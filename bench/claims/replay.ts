import type { Database } from '#db/sql.ts'
import { newId } from '#lib/id.ts'

interface Statement {
  text: string
  parameters: unknown[]
  types: number[]
  /** Statements of one step were sent together, without waiting for each other. */
  step: number
}

/** What a command asked of the database between begin and commit. */
export type Recording = readonly Statement[]

/**
 * Runs a command on a pool of one connection that knows its statements already, and notes them: texts, values,
 * and which were sent together.
 */
export async function record<T>(
  db: Database,
  command: () => Promise<T>,
): Promise<{ result: T; recording: Recording }> {
  const noted: Statement[] = []
  let step = 0
  let isSameTurn = false
  const { options } = db
  const { debug } = options
  // The driver's typings leave out the types of the values.
  const note = (_: number, text: string, parameters: unknown[], types: number[]) => {
    if (!isSameTurn) step += 1
    isSameTurn = true
    // An answer of the server comes in a later turn of the event loop.
    setImmediate(() => (isSameTurn = false))
    noted.push({ text, parameters: [...parameters], types: [...types], step })
  }
  Object.assign(options, { debug: note })
  try {
    const result = await command()
    return { result, recording: noted.filter(({ text }) => !/^(?:begin|commit)/.test(text)) }
  } finally {
    Object.assign(options, { debug })
  }
}

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi

/** Statements with their values, step by step: all that is left to do is to send them. */
export type Prepared = { text: string; values: unknown[] }[][]

/**
 * The same questions about other things: ids become what they are mapped to, and every other id becomes a
 * new one and is added to the map. Map to itself what stays.
 */
export function prepare(db: Database, recording: Recording, ids: Map<string, string>): Prepared {
  const steps = Map.groupBy(recording, ({ step }) => step)
  return [...steps.values()].map((statements) =>
    statements.map(({ text, parameters, types }) => ({
      text,
      values: parameters.map((value, index) => {
        const type = types[index] ?? 0
        const changed = withIds(value, ids)
        return type === 0 ? changed : db.typed(changed as never, type)
      }),
    })),
  )
}

/** Asks by nothing but the driver. */
export async function replay(db: Database, prepared: Prepared): Promise<void> {
  await db.begin('read write', async (sql) => {
    for (const step of prepared) {
      await Promise.all(
        step.map(({ text, values }) => sql.unsafe(text, values as never[], { prepare: true })),
      )
    }
  })
}

function withIds(value: unknown, ids: Map<string, string>): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  const isText = typeof value === 'string'
  const text = (isText ? value : JSON.stringify(value)).replaceAll(UUID, (id) => {
    const known = ids.get(id)
    if (known !== undefined) return known
    const fresh = newId()
    ids.set(id, fresh)
    return fresh
  })
  return isText ? text : JSON.parse(text)
}
