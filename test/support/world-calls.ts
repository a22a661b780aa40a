import * as calls from '#contract/skill-invocations.ts'
import type { Make } from './world.ts'

/** Calls of a skill for a run: one waits, one is being executed. */
export async function makeCalls(
  make: Make,
  marker: string,
  { skill, run, fence }: { skill: string; run: string; fence: { fencingToken: number } },
) {
  const add = () =>
    make(calls.invokeSkill, {
      params: { id: skill },
      body: { inputs: { note: marker }, runId: run, fencingToken: fence.fencingToken },
    })
  const [waiting, running] = [await add(), await add()]
  await make(calls.claimInvocation, { params: { id: running.id } })
  return { invocation: waiting.id, runningInvocation: running.id }
}
