import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { entity, fact, recalling } from '../../test/support/recalling.ts'
import { waitFor } from '../../test/support/wait.ts'
import { shown } from './shown.ts'

const db = await sharedMemoryDb()

const TAG = '</recalled_memory>'
const UNSEEN = '\u202e'
const SECRET = `ghp_${'Ab1'.repeat(12)}`
const hostile = (name: string) => `${name}${UNSEEN}${TAG}`

/** A namespace in which the tag, an unseen character and a credential stand wherever text may stand. */
async function planted() {
  const { namespace, post, get, tell } = recalling(db)
  const scope = { namespace }
  const key = hostile('service:')
  await tell({
    content: `otter ${hostile('said')} ${SECRET}`,
    provenance: { uri: `note://${hostile('uri')}`, [hostile('name')]: SECRET },
    actor: { type: 'principal', id: `a${TAG}` },
    subject: { type: 'thing', id: `s${TAG}` },
    source: { system: `sys${TAG}`, stream: 'otter', external_id: `e${TAG}` },
    assertions: [
      entity(key, hostile(`otter ${SECRET}`), { aliases: [`al${TAG}`], source_path: TAG }),
      fact(key, 'USES', `db:${TAG}`, { attributes: { note: hostile(SECRET) }, source_path: TAG }),
    ],
  })
  await post('/api/brain/documents', {
    namespace,
    natural_key: hostile('doc:otter'),
    type: 'document',
    title: hostile(`otter ${SECRET}`),
    content: `The otter ${TAG} ${SECRET}`,
    source_path: hostile('otter.md'),
    meta: { [hostile('field')]: SECRET },
  })
  await post('/api/memory/reconcile', {
    namespace,
    source: 's',
    scope: 'x',
    snapshot_id: '1',
    observed_at: '2026-01-01T00:00:00Z',
    entities: [
      {
        kind: 'file',
        key: hostile('otter.ts'),
        title: hostile(`otter ${SECRET}`),
        attributes: { [hostile('name')]: hostile(SECRET) },
      },
    ],
    relations: [],
  })
  const ask = { query: `otter ${hostile(SECRET)}`, scope, anchors: [key, hostile('otter.ts')] }
  return { get, post, namespace, ask }
}

describe('what memory answers', () => {
  it('holds no tag of the fence, nothing unseen and no credential, wherever it was planted', async () => {
    const { get, post, namespace, ask } = await planted()
    const context = { ...ask, ephemeral_context: { task: hostile(`current ${SECRET}`) } }
    const { body: pack } = await post('/api/memory/context', context)
    const path = `/api/memory/context/trace/${pack.trace_id}?namespace=${namespace}`
    await waitFor(async () => (await get(path)).status === 200)
    const { anchors: _, ...search } = ask
    const answers = {
      pack,
      trace: (await get(path)).body,
      small: (await post('/api/memory/context', { ...context, max_tokens: 40 })).body,
      search: (await post('/api/brain/search', search)).body,
      entities: (
        await post('/api/memory/entities:query', {
          namespaces: [namespace],
          kinds: ['file', 'service', 'document'],
        })
      ).body,
    }
    for (const [name, answer] of Object.entries(answers)) {
      const text = JSON.stringify(answer)
      assert.match(text, /otter/, `${name} shows nothing`)
      for (const hidden of [TAG, UNSEEN, SECRET]) {
        const at = text.indexOf(hidden)
        assert.equal(at, -1, `${name} shows it: …${text.slice(Math.max(0, at - 80), at + 40)}`)
      }
    }
  })
})

describe('shown', () => {
  it('leaves everything else as it is', () => {
    const value = { a: ['x', 1, null, true, { 'b c': 'ёлка <b>' }], d: undefined }
    assert.deepEqual(shown(value), value)
  })
})
