import type { InstructionsRef } from '#contract/runs.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { sha256 } from '#lib/id.ts'
import { canonicalJson } from '#lib/json.ts'
import type { WorkRules } from '#projects/read-governance.ts'
import { selectTaskType } from '#task-types/task-type.sql.ts'

export interface InstructionLayer extends InstructionsRef {
  text: string
}

export interface Instructions {
  /** What an agent is to obey, the most general first; layers without text are left out. */
  layers: InstructionLayer[]
  /** SHA-256 of the layers as canonical JSON: equal exactly when all of them are. */
  hash: string
}

/** The instructions that apply to a task now; `rules` are those of its project. */
export async function instructionsFor(
  sql: Sql,
  ctx: Tenancy,
  task: { typeKey: string; typeVersion: number },
  rules: WorkRules | undefined,
): Promise<Instructions> {
  const { typeKey: key, typeVersion: version } = task
  return instructionsUnder(task, await selectTaskType(sql, ctx, { key, version }), rules)
}

/** The same where the type of the task has been read. */
export function instructionsUnder(
  { typeKey: ref, typeVersion: version }: { typeKey: string; typeVersion: number },
  type: { instructions: string | null } | undefined,
  rules: WorkRules | undefined,
): Instructions {
  return instructionsOf([
    ...projectLayer(rules?.instructions ?? null),
    { source: 'taskType', ref, version, text: type?.instructions ?? '' },
  ])
}

function projectLayer(instructions: WorkRules['instructions']): InstructionLayer[] {
  if (!instructions) return []
  const { projectId: ref, version, text } = instructions
  return [{ source: 'project', ref, version, text }]
}

export function instructionsOf(all: readonly InstructionLayer[]): Instructions {
  const layers = all.filter(({ text }) => text.trim() !== '')
  return { layers, hash: sha256(canonicalJson(layers)) }
}

/** Which instructions they were, without their texts. */
export function refsOf({ layers }: Instructions): InstructionsRef[] {
  return layers.map(({ source, ref, version }) => ({ source, ref, version }))
}
