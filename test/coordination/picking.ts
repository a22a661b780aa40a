import type { Ctx } from '#lib/ctx.ts'
import type { Actor } from './model.ts'

/** The thing and its id, counted from the newest; among those that fit, if any do. */
export function pick<T>(
  things: T[],
  ids: string[],
  back: number,
  fits: (thing: T) => boolean = () => true,
): [T, string] | undefined {
  const fitting = things.filter(fits)
  const chosen = fitting.length > 0 ? fitting : things
  const thing = chosen.at(-1 - (back % (chosen.length || 1)))
  return thing === undefined ? undefined : [thing, ids[things.indexOf(thing)] ?? '']
}

export function actorOf(index: number): Actor {
  return { index, manages: index === 2 }
}

export function ctxOf({ actors }: { actors: readonly Ctx[] }, index: number): Ctx {
  const ctx = actors[index]
  if (!ctx) throw new RangeError(`there is no actor ${index}`)
  return ctx
}
