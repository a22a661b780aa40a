import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { MAX_SIZE, chunkText, sizeOf } from './chunk-text.ts'

const texts = (text: string, type = 'document') => chunkText(text, type).map((chunk) => chunk.text)

function holds(text: string, type: string) {
  const chunks = chunkText(text, type)
  const joined = chunks.map((chunk) => chunk.text).join('')
  assert.equal(joined, text.trim() === '' ? '' : text)
  for (const chunk of chunks) {
    assert.ok(sizeOf(chunk.text) <= MAX_SIZE, `a chunk of ${sizeOf(chunk.text)}`)
    assert.ok(chunk.text.isWellFormed() || !text.isWellFormed())
  }
  return chunks
}

const english = 'The quick brown fox jumps over the lazy dog. '
const russian = 'Съешь ещё этих мягких французских булок, да выпей чаю! '
const chinese = '我们决定使用可逆的迁移，并在持续集成中检查降级。'

describe('B8: a text of any length is cut where it divides', () => {
  it('gives the chunks of any text that joined are the text, each within the limit', () => {
    const markdown = fc
      .array(
        fc.oneof(
          fc.constantFrom('# A\n', '## B\n\n', '```\n', '\n\n', '- item\n', '| a | b |\n', '---\n'),
          fc.constantFrom(english, russian, chinese, 'x'.repeat(700), '🐘'.repeat(300)),
          fc.string({ unit: 'binary', maxLength: 40 }),
        ),
        { maxLength: 60 },
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(markdown, fc.constantFrom('document', 'code'), (text, type) => {
        holds(text, type)
      }),
    )
  })

  for (const [name, sentence] of [
    ['English', english],
    ['Russian', russian],
    ['Chinese', chinese],
  ] as const) {
    it(`cuts a long paragraph of ${name} between sentences`, () => {
      const chunks = holds(sentence.repeat(200), 'document')
      assert.ok(chunks.length > 5)
      for (const { text } of chunks) assert.match(text.trimEnd(), /[.!。]$/u)
    })
  }

  it('keeps every chunk under the headings it stands under', () => {
    const text = `# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n### Linux\n\nApt.\n\n## Use\n\nType.\n`
    const chunks = holds(text, 'document')
    assert.deepEqual(
      chunks.map(({ heading }) => heading),
      ['Guide', 'Guide > Install', 'Guide > Install > Linux', 'Guide > Use'],
    )
    assert.match(chunks[1]?.text ?? '', /^## Install\n\nRun it/)
  })

  it('reads underlined headings and leaves front matter and rules alone', () => {
    const chunks = holds(
      '---\na: 1\n---\n\nTitle\n=====\n\nText.\n\nPart\n----\n\nMore.\n',
      'document',
    )
    assert.deepEqual(
      chunks.map(({ heading }) => heading),
      [null, 'Title', 'Title > Part'],
    )
  })

  it('does not take a comment in a fenced block for a heading', () => {
    const text = '# Top\n\n```sh\n# not a heading\nls\n```\n\nAfter.\n'
    assert.deepEqual(
      holds(text, 'document').map(({ heading }) => heading),
      ['Top'],
    )
  })

  it('joins a heading without text to what follows it', () => {
    const chunks = holds('# Top\n\n## Sub\n\nText.\n', 'document')
    assert.deepEqual(chunks, [{ heading: 'Top > Sub', text: '# Top\n\n## Sub\n\nText.\n' }])
  })

  it('keeps a function whole and cuts between functions', () => {
    const work = `${'  work()\n'.repeat(60)}\n  more()\n`
    const text = ['a', 'b', 'c', 'd'].map((name) => `function ${name}() {\n${work}}\n\n`).join('')
    for (const chunk of texts(text, 'code')) assert.match(chunk, /^function [a-d]\(\)/)
    holds(text, 'code')
  })

  it('keeps a short text whole and an empty one out', () => {
    assert.deepEqual(texts('One line'), ['One line'])
    assert.deepEqual(texts(' \n\t\n'), [])
  })

  it('needs no more time for a megabyte of anything', () => {
    const started = performance.now()
    holds((english + russian).repeat(11_000), 'document')
    for (const unit of ['a', '.', '# ', ' ', "'", '\n ', '. ', '`', '-\n', 'é\u0301']) {
      holds(unit.repeat(1_000_000 / unit.length), 'document')
    }
    assert.ok(performance.now() - started < 10_000)
  })
})
