import type { Effort } from './args.ts'

/** One of the things compared; `run` measures it once. Rounds that warm up have numbers below 0. */
export interface Case {
  name: string
  run: (round: number) => Promise<number>
}

/**
 * Measures every case once per round, so that what else the machine does meets them alike. Each round
 * begins with another case. Rounds that warm up are thrown away; `settle` is called after the first of
 * all, to bring every database to the state in which it would be after a while.
 */
export async function interleave(
  cases: readonly Case[],
  { rounds, warmUp }: Effort,
  settle: () => Promise<void> = () => Promise.resolve(),
): Promise<Map<string, number[]>> {
  const samples = new Map<string, number[]>(cases.map(({ name }) => [name, []]))
  for (let round = -warmUp; round < rounds; round += 1) {
    if (round === 1 - warmUp) await settle()
    const first = (round + warmUp) % Math.max(1, cases.length)
    for (const { name, run } of [...cases.slice(first), ...cases.slice(0, first)]) {
      const value = await run(round)
      if (round >= 0) samples.get(name)?.push(value)
    }
  }
  return samples
}

/** Calls `work` until it has been done `count` times, `callers` at a time. */
export async function callersDo(
  callers: number,
  count: number,
  work: (caller: number, index: number) => Promise<unknown>,
): Promise<{ seconds: number }> {
  let next = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (next < count) await work(caller, next++)
    }),
  )
  return { seconds: (performance.now() - begun) / 1000 }
}
