import type { ManifestInput } from '#contract/memory-packs.ts'

/** What every namespace has: kinds of the service itself, which it makes of texts and events. */
export const DEFAULT_PACK: ManifestInput = {
  name: 'default',
  version: '1',
  description: 'Kinds of the service itself; they count in every namespace',
  kinds: [
    { kind: 'entity', description: 'Something of which no kind is known' },
    { kind: 'document', description: 'A text with a title, kept in chunks' },
    { kind: 'fact', description: 'A statement about two entities' },
    { kind: 'code', description: 'A text cut by blocks of code' },
    { kind: 'note', description: 'A short text told with an observation' },
    { kind: 'episode', description: 'What happened in a stretch of time' },
    { kind: 'import_part', description: 'How far a connector has come with one part of a source' },
  ],
}
