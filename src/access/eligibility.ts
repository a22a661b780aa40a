/** What a piece of work asks of whoever takes it; each is named by its id, or by slug or name. */
export interface Requirements {
  roles?: readonly string[] | undefined
  capabilities?: readonly string[] | undefined
  skills?: readonly string[] | undefined
}

/** What a principal has at the place of the work. */
export interface Held {
  roles: readonly { id: string; slug: string; name: string }[]
  capabilities: readonly { id: string; name: string }[]
  skills: readonly { id: string; name: string }[]
}

/** One thing that is asked for and not there. */
export interface Missing {
  kind: 'role' | 'capability' | 'skill'
  name: string
}

/** What of the requirements is not met; empty for who is eligible. All of them have to be met. */
export function missingOf(requirements: Requirements, held: Held): Missing[] {
  const { roles = [], capabilities = [], skills = [] } = requirements
  const keys = {
    role: new Set(held.roles.flatMap(({ id, slug }) => [id, slug])),
    capability: new Set(held.capabilities.flatMap(({ id, name }) => [id, name])),
    skill: new Set(held.skills.flatMap(({ id, name }) => [id, name])),
  }
  const lacking = (kind: Missing['kind'], names: readonly string[]) =>
    names.filter((name) => !keys[kind].has(name)).map((name) => ({ kind, name }))
  return [
    ...lacking('role', roles),
    ...lacking('capability', capabilities),
    ...lacking('skill', skills),
  ]
}
