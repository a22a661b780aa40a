import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { allReadings, compactTable, NAME_SKELETON } from '../../test/support/lookalikes.ts'
import { stripFence } from './fence.ts'
import { composeCompatible, dropInvisible } from './invisible.ts'
import { LOOKALIKES } from './lookalikes.ts'

describe('the table of look-alikes', () => {
  it('is what the published data and our additions give (else run docs/generate-lookalikes.ts)', () => {
    const expected = Object.entries(compactTable()).map(([reading, chars]) => [
      reading,
      chars.join(''),
    ])
    assert.deepEqual(LOOKALIKES, Object.fromEntries(expected))
  })

  it('lets every published twin of a letter stand in for it', () => {
    const missed: string[] = []
    for (const [reading, twins] of allReadings()) {
      const at = NAME_SKELETON.indexOf(reading)
      if (at < 0) continue
      const [before, after] = [NAME_SKELETON.slice(0, at), NAME_SKELETON.slice(at + reading.length)]
      for (const twin of twins) {
        if (stripFence(`x<_</${before}${twin}${after}>y`) !== 'x<_y')
          missed.push(`${twin} as ${reading}`)
      }
    }
    assert.deepEqual(missed, [])
  })

  it('lets every published twin of a bracket or slash stand in for it', () => {
    const twins = allReadings()
    const tags = [
      ...(twins.get('<') ?? []).map((open) => `${open}recalled_memory>`),
      ...(twins.get('>') ?? []).map((close) => `<recalled_memory${close}`),
      ...(twins.get('/') ?? []).map((slash) => `<${slash}recalled_memory>`),
    ]
    assert.ok(tags.length > 40)
    assert.deepEqual(
      tags.filter((tag) => stripFence(tag) !== ''),
      [],
    )
  })
})

describe('characters taken as settled', () => {
  it('are changed neither by dropping the invisible nor by composition', () => {
    const changed: string[] = []
    for (let code = 0x20; code < 0x10000; code += 1) {
      if (code >= 0xd800 && code < 0xe000) continue
      const char = String.fromCodePoint(code)
      const composed = char.normalize('NFKC')
      if (composeCompatible(char) !== composed) changed.push(code.toString(16))
      const isInvisible = /[\p{DI}\p{Bidi_C}]/u.test(char)
      if (isInvisible && dropInvisible(char) !== '') changed.push(code.toString(16))
    }
    assert.deepEqual(changed, [])
  })
})
