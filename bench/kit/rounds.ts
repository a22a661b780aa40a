/** One of the things compared; `run` measures it once. Rounds that warm up have numbers below 0. */
export interface Case {
  name: string
  run: (round: number) => Promise<number>
}

/**
 * Measures every case once per round, so that what else the machine does meets them alike. Each round
 * begins with another case. Two rounds warm up and are thrown away; `settle` is called between them, to
 * bring every database to the state in which it would be after a while.
 */
export async function interleave(
  cases: readonly Case[],
  rounds: number,
  settle: () => Promise<void> = () => Promise.resolve(),
): Promise<Map<string, number[]>> {
  const samples = new Map<string, number[]>(cases.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds + WARM_UP; round += 1) {
    if (round === 1) await settle()
    const first = round % Math.max(1, cases.length)
    for (const { name, run } of [...cases.slice(first), ...cases.slice(0, first)]) {
      const value = await run(round - WARM_UP)
      if (round >= WARM_UP) samples.get(name)?.push(value)
    }
  }
  return samples
}

const WARM_UP = 2

/** Calls `work` until it has been done `count` times, `callers` at a time. @returns times in ms */
export async function callersDo(
  callers: number,
  count: number,
  work: (caller: number, index: number) => Promise<unknown>,
): Promise<{ seconds: number; times: number[] }> {
  const times: number[] = []
  let next = 0
  const begun = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      while (next < count) {
        const index = next++
        const start = performance.now()
        await work(caller, index)
        times.push(performance.now() - start)
      }
    }),
  )
  return { seconds: (performance.now() - begun) / 1000, times }
}
