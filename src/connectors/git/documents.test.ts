import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { documentText, documentTitle, selectDocuments } from './documents.ts'
import { cleanRepositoryName, fileRef, personRef, repositoryName } from './names.ts'
import { planDocuments } from './publish-documents.ts'
import type { TreeEntry } from './records.ts'

function entry(path: string, over: Partial<TreeEntry> = {}): TreeEntry {
  return { path, type: 'file', blobSha: `sha of ${path}`, size: 10, ...over }
}

const title = (text: string) => documentTitle('docs/x.md', text)

describe('documents', () => {
  it('are READMEs anywhere, prose at the root and under docs', () => {
    const chosen = [
      'README',
      'README.ru.md',
      'CHANGELOG.md',
      'notes.txt',
      'docs/a/b.rst',
      'doc/x.adoc',
    ]
    const nested = ['packages/one/README.md', 'packages/one/docs/guide.md']
    const others = ['src/main.ts', 'src/notes.txt', 'node_modules/x/README.md', 'docs/picture.png']
    const tree = [...chosen, ...nested, ...others].map((path) => entry(path))
    const { documents } = selectDocuments([
      ...tree,
      entry('LINK.md', { type: 'symlink' }),
      entry('EMPTY.md', { size: 0 }),
    ])
    assert.deepEqual(
      documents.map(({ path }) => path),
      [...chosen, ...nested],
    )
  })

  it('larger than 1 MiB are left out with a warning', () => {
    const { documents, warnings } = selectDocuments([entry('A.md', { size: 2 ** 21 })])
    assert.deepEqual(documents, [])
    assert.match(warnings.join(), /A\.md/)
  })

  it('are titled by their first heading outside of code and front matter', () => {
    assert.equal(title('intro\n\n## The `point` ##\n'), 'The `point`')
    assert.equal(title('---\ntitle: x\n# no\n---\n# Yes\n'), 'Yes')
    assert.equal(title('```sh\n# a comment\n```\n# Real\n'), 'Real')
    assert.equal(title('Заголовок\n=========\n\ntext'), 'Заголовок')
    assert.equal(title('= AsciiDoc\n'), 'AsciiDoc')
    assert.equal(title('no heading at all'), 'docs/x.md')
  })

  it('are read as UTF-8, UTF-16 or windows-1251, and binary content not at all', () => {
    assert.equal(documentText(Buffer.from('\ufeffпривет\r\nмир')), 'привет\nмир')
    assert.equal(documentText(Buffer.from('\ufeffпривет', 'utf16le')), 'привет')
    assert.equal(documentText(Buffer.from([0xef, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2])), 'привет')
    assert.equal(documentText(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2])), undefined)
    assert.equal(documentText(Buffer.from('text\0more')), undefined)
    assert.equal(documentText(Buffer.from(' \n')), undefined)
  })

  it('are sent when new or changed, and removed when gone', () => {
    const stored = new Map([
      ['a.md', 'sha of a.md'],
      ['b.md', 'old'],
      ['c.md', 'sha of c.md'],
    ])
    const plan = planDocuments([entry('a.md'), entry('b.md'), entry('d.md')], stored)
    assert.deepEqual(
      plan.store.map(({ path }) => path),
      ['b.md', 'd.md'],
    )
    assert.deepEqual(plan.remove, ['c.md'])
    assert.deepEqual(
      plan.unchanged.map(({ path }) => path),
      ['a.md'],
    )
  })
})

describe('names', () => {
  it('of a repository come from its remote, else from its folder', () => {
    assert.equal(repositoryName('/home/ann/clone', 'host.example/acme/app'), 'acme/app')
    assert.equal(repositoryName('/home/ann/clone', 'host.example/group/acme/app'), 'acme/app')
    assert.equal(repositoryName('/home/ann/clone', undefined), 'clone')
    assert.equal(repositoryName('/srv/app.git', undefined), 'app')
    assert.equal(repositoryName('/srv/app/.git', undefined), 'app')
    assert.equal(cleanRepositoryName(' ../my repo/'), 'my-repo')
    assert.equal(cleanRepositoryName('///'), 'repository')
  })

  it('of people do not depend on how an address is written', () => {
    const ann = personRef({ name: 'Ann', email: 'Ann@Example.org ' })
    assert.deepEqual(ann, personRef({ name: 'A. Author', email: 'ann@example.org' }))
    assert.notDeepEqual(ann, personRef({ name: 'Ann', email: '' }))
  })

  it('of files stay apart when they are longer than a key', () => {
    const [one, other] = ['a', 'b'].map((last) => fileRef('app', 'x'.repeat(400) + last).key)
    assert.notEqual(one, other)
    assert.ok((one?.length ?? 0) <= 250)
  })
})
