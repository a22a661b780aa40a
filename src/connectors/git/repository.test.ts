import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gitAt, testFolder, testRepository } from '../../../test/support/git-repository.ts'
import { readBlobs } from './blobs.ts'
import type { RepositoryReading } from './records.ts'
import { openRepository, readRepository, remoteName } from './repository.ts'

const LIMITS = { maxCommits: 1000, maxChangesPerCommit: 100 }

async function read(path: string, limits = LIMITS): Promise<RepositoryReading> {
  const git = gitAt(path)
  return await readRepository(git, await openRepository(git), limits)
}

describe('reading a repository', () => {
  it('reads commits newest first with authors, messages and changes', async (t) => {
    const repository = testRepository(t)
    repository.write('a.txt', 'one\ntwo\nthree\n')
    const first = repository.commit('Start\n\nWith a body')
    repository.git('mv', 'a.txt', 'b.txt')
    repository.write('c.txt', 'new\n')
    const second = repository.commit('Rename')
    const reading = await read(repository.path)
    assert.equal(reading.repository.head, second)
    assert.equal(reading.repository.branch, 'main')
    assert.equal(reading.historyComplete, true)
    assert.deepEqual(reading.warnings, [])
    assert.deepEqual(
      reading.commits.map(({ sha, parents }) => [sha, parents]),
      [
        [second, [first]],
        [first, []],
      ],
    )
    assert.deepEqual(reading.commits[0]?.changes, [
      { status: 'renamed', path: 'b.txt', from: 'a.txt', similarity: 100 },
      { status: 'added', path: 'c.txt' },
    ])
    assert.equal(reading.commits[1]?.message.trim(), 'Start\n\nWith a body')
    assert.deepEqual(reading.commits[1]?.author, { name: 'Ann Author', email: 'ann@example.org' })
    assert.equal(reading.commits[1]?.committedAt, Date.UTC(2024, 0, 30, 12) / 1000)
    assert.deepEqual(
      reading.tree.map(({ path, type, size }) => [path, type, size]),
      [
        ['b.txt', 'file', 14],
        ['c.txt', 'file', 4],
      ],
    )
  })

  it('keeps hostile and non-UTF-8 file names apart', async (t) => {
    const repository = testRepository(t)
    const names = [
      'новый файл.txt',
      'line\nfeed',
      'tab\there',
      'commit',
      '"quoted"',
      '-rf',
      '$(touch owned)',
      ':(exclude)x',
      'emoji 🦊',
    ]
    for (const name of names) repository.write(name, name)
    repository.write(Buffer.from([0x62, 0xff, 0xe9]), 'latin')
    repository.write('\\377', 'backslash')
    repository.commit('Names')
    const reading = await read(repository.path)
    const plain = ['новый файл.txt', 'commit', '-rf', '$(touch owned)', ':(exclude)x', 'emoji 🦊']
    const quoted = ['line\\nfeed', 'tab\\there', '\\"quoted\\"', 'b\\377\\351', '\\\\377']
    const expected = [...plain, ...quoted.map((text) => `"${text}"`)]
    assert.deepEqual(reading.tree.map(({ path }) => path).toSorted(), expected.toSorted())
    assert.deepEqual(
      reading.commits[0]?.changes.map(({ path }) => path).toSorted(),
      expected.toSorted(),
    )
    assert.equal(existsSync(join(repository.path, 'owned')), false)
  })

  it('reads merges, empty messages and commits without changes', async (t) => {
    const repository = testRepository(t)
    repository.write('a', 'a')
    repository.commit('')
    repository.git('checkout', '--quiet', '-b', 'side')
    repository.write('b', 'b')
    const side = repository.commit('Side')
    repository.git('checkout', '--quiet', 'main')
    const empty = repository.commit('Nothing changed')
    repository.git('merge', '--quiet', '--no-ff', '-m', 'Merge side', 'side')
    const { commits } = await read(repository.path)
    assert.deepEqual(commits[0]?.parents, [empty, side])
    assert.deepEqual(
      commits.map(({ message, changes }) => [message.trim(), changes.length]),
      [
        ['Merge side', 0],
        ['Nothing changed', 0],
        ['Side', 1],
        ['', 1],
      ],
    )
  })

  it('reads light and annotated tags, with the message of the latter', async (t) => {
    const repository = testRepository(t)
    repository.write('a', 'a')
    const sha = repository.commit('Start')
    repository.git('tag', 'light')
    repository.git('tag', '-a', 'v1', '-m', 'First release\n\nWith notes')
    repository.git('tag', 'on-a-tree', 'HEAD^{tree}')
    const { tags } = await read(repository.path)
    assert.deepEqual(
      tags.map(({ name, annotated, commit, message }) => ({ name, annotated, commit, message })),
      [
        { name: 'light', annotated: false, commit: sha, message: '' },
        { name: 'on-a-tree', annotated: false, commit: undefined, message: '' },
        { name: 'v1', annotated: true, commit: sha, message: 'First release\n\nWith notes' },
      ],
    )
  })

  it('reads a repository without a commit as empty', async (t) => {
    const reading = await read(testRepository(t).path)
    assert.equal(reading.repository.head, undefined)
    assert.deepEqual([reading.commits, reading.tree, reading.tags], [[], [], []])
  })

  it('reads a bare repository and a detached head', async (t) => {
    const repository = testRepository(t)
    repository.write('a', 'a')
    const sha = repository.commit('Start')
    repository.commit('More')
    repository.git('checkout', '--quiet', '--detach', sha)
    const detached = await read(repository.path)
    assert.equal(detached.repository.head, sha)
    assert.equal(detached.repository.branch, undefined)
    const bare = join(testFolder(t), 'copy.git')
    repository.git('clone', '--quiet', '--bare', repository.path, bare)
    const reading = await read(bare)
    assert.equal(reading.repository.bare, true)
    assert.equal(reading.commits.length, 1)
  })

  it('says that a shallow clone is incomplete and claims no changes at its edge', async (t) => {
    const repository = testRepository(t)
    for (const name of ['a', 'b', 'c']) {
      repository.write(name, name)
      repository.commit(name)
    }
    const shallow = join(testFolder(t), 'shallow')
    repository.git('clone', '--quiet', '--depth=2', `file://${repository.path}`, shallow)
    const reading = await read(shallow)
    assert.equal(reading.historyComplete, false)
    assert.match(reading.warnings.join(), /shallow/)
    assert.deepEqual(
      reading.commits.map(({ changes }) => changes.length),
      [1, 0],
    )
    assert.equal(reading.tree.length, 3)
  })

  it('keeps to the bounds on commits and on changes', async (t) => {
    const repository = testRepository(t)
    for (let index = 0; index < 8; index += 1) repository.write(`f${index}`, `${index}`)
    repository.commit('Many')
    repository.commit('Later')
    const cut = await read(repository.path, { maxCommits: 1, maxChangesPerCommit: 3 })
    assert.equal(cut.commits.length, 1)
    assert.equal(cut.historyComplete, false)
    assert.match(cut.warnings.join(), /newest 1 commits/)
    const { commits } = await read(repository.path, { maxCommits: 2, maxChangesPerCommit: 3 })
    assert.equal(commits[1]?.changes.length, 3)
    assert.equal(commits[1]?.changesOmitted, 5)
  })

  it('lists a submodule and a link without following them', async (t) => {
    const inner = testRepository(t)
    inner.write('x', 'x')
    const sha = inner.commit('Inner')
    const repository = testRepository(t)
    repository.git('update-index', '--add', '--cacheinfo', `160000,${sha},lib/inner`)
    repository.git('symbolic-ref', 'HEAD')
    repository.git('commit', '--quiet', '-m', 'Add a submodule')
    const { tree } = await read(repository.path)
    assert.deepEqual(tree, [
      { path: 'lib/inner', type: 'submodule', blobSha: sha, size: undefined },
    ])
  })

  it('reads raw blobs in order and says which are missing', async (t) => {
    const repository = testRepository(t)
    const large = 'x'.repeat(300_000)
    repository.write('.gitattributes', '* text eol=crlf')
    repository.write('a', 'one\ntwo\n')
    repository.write('b', large)
    repository.write('c', '')
    repository.commit('Start')
    const shas = ['a', 'b', 'c'].map((name) => repository.git('rev-parse', `HEAD:${name}`))
    const git = gitAt(repository.path)
    const found: (string | undefined)[] = []
    for await (const blob of readBlobs(git, [...shas, '0'.repeat(40), shas[0] ?? ''])) {
      found.push(blob?.toString())
    }
    assert.deepEqual(found, ['one\ntwo\n', large, '', undefined, 'one\ntwo\n'])
  })
})

describe('the name of a remote', () => {
  it('is the same for every way to reach it, and holds no credentials', () => {
    const addresses = [
      'https://ann:secret@Host.example/acme/app.git?token=x#y',
      'git@host.example:acme/app.git',
      'host.example:acme/app',
      'ssh://git@host.example:22/acme/app/',
    ]
    for (const address of addresses) assert.equal(remoteName(address), 'host.example/acme/app')
  })

  it('is none for a path on this machine', () => {
    for (const path of ['/srv/git/app.git', '../app', 'file:///srv/app', 'C:\\git\\app']) {
      assert.equal(remoteName(path), undefined)
    }
  })
})
