import { AppError } from '#lib/errors.ts'

/** Where in the tree workspaces of one type may stand. */
export interface ParentRule {
  key: string
  allowRoot: boolean
  /** Null: below anything. */
  parentTypes: readonly string[] | null
}

export interface WorkspaceTypeRow extends ParentRule {
  id: string
  displayName: string
  description: string
  version: number
  createdAt: Date
}

/** What a workspace stands below; null at the top. */
export type ParentPlace = { typeKey: string | null } | null

/** A workspace without a type stands anywhere; below it stand only types that name no parents. */
export function allowsParent(rule: ParentRule | undefined, parent: ParentPlace): boolean {
  if (!rule) return true
  if (parent === null) return rule.allowRoot
  return rule.parentTypes === null || rule.parentTypes.includes(parent.typeKey ?? '')
}

/** Throws `invalid_workspace_parent`, with the rule, unless the type allows the place. */
export function requireParentAllowed(rule: ParentRule | undefined, parent: ParentPlace): void {
  if (!rule || allowsParent(rule, parent)) return
  const { key, allowRoot, parentTypes } = rule
  const place = parent === null ? 'at the top' : `below type "${parent.typeKey ?? 'none'}"`
  throw new AppError(
    'invalid_workspace_parent',
    `Cannot place a workspace of type "${key}" ${place}`,
    {
      details: {
        typeKey: key,
        parentTypeKey: parent?.typeKey ?? null,
        allowed: { allowRoot, parentTypes },
      },
    },
  )
}
