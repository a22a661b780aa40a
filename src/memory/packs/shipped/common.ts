import type { ManifestInput } from '#contract/memory-packs.ts'

type KindInput = NonNullable<ManifestInput['kinds']>[number]
type RelationInput = NonNullable<ManifestInput['relations']>[number]

/** Declared alike by every pack that needs them, so that packs stand beside each other without conflict. */
export const PERSON: KindInput = {
  kind: 'person',
  description: 'Somebody who writes, decides, owns or is asked',
  naturalKey: 'person:<id hash of an address, or an account>',
  kindAliases: ['developer', 'user'],
  attributes: attributes({ name: 'string', email: 'string' }),
}

export const TEAM: KindInput = {
  kind: 'team',
  description: 'People who answer for something together',
  naturalKey: 'team:<id>',
  kindAliases: ['squad'],
  attributes: attributes({ name: 'string' }),
}

export const PART_OF: RelationInput = {
  relation: 'part_of',
  description: 'What is inside of what',
}

export const AUTHORED_BY: RelationInput = {
  relation: 'authored_by',
  description: 'Who wrote it, or had a part in it',
  toKinds: ['person', 'team'],
}

export const OWNED_BY: RelationInput = {
  relation: 'owned_by',
  description: 'Who answers for it',
  toKinds: ['person', 'team'],
}

export const MEMBER_OF: RelationInput = {
  relation: 'member_of',
  description: 'Who belongs to a team',
  fromKinds: ['person'],
  toKinds: ['team'],
}

export const RELATES_TO: RelationInput = {
  relation: 'relates_to',
  description: 'A connection that has no better name',
}

export const SUPERSEDES: RelationInput = {
  relation: 'supersedes',
  description: 'What has taken the place of what',
}

export const TEXT_OF: RelationInput = {
  relation: 'text_of',
  description: 'Which document holds the text of what',
  fromKinds: ['document', 'code'],
}

type Type = 'string' | 'integer' | 'number' | 'boolean' | 'array'

/** A schema that knows the types of some attributes and lets every other one be. */
export function attributes(types: Readonly<Record<string, Type | readonly string[]>>) {
  const properties = Object.entries(types).map(([name, type]) => [
    name,
    typeof type === 'string' ? { type } : { enum: type },
  ])
  return { type: 'object', properties: Object.fromEntries(properties) }
}
