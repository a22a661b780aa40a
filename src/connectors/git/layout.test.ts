import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gitAt, testRepository } from '../../../test/support/git-repository.ts'
import type { TestRepository } from '../../../test/support/git-repository.ts'
import type { Part, PartLimits } from '../part.ts'
import type { SnapshotEntity } from '../snapshot.ts'
import { layOutRepository } from './layout.ts'
import type { RepositoryReading } from './records.ts'
import { openRepository, readRepository } from './repository.ts'

interface LayoutOver {
  withEmails?: boolean
  limits?: PartLimits
  isKnown?: (sha: string) => boolean
  reading?: Partial<RepositoryReading>
}

async function layOut(repository: TestRepository, over: LayoutOver = {}): Promise<Part[]> {
  const git = gitAt(repository.path)
  const limits = { maxCommits: 1000, maxChangesPerCommit: 100 }
  const read = await readRepository(git, await openRepository(git), limits)
  const { reading, ...rest } = over
  const options = { repo: 'app', withEmails: false, documents: new Set<string>(), ...rest }
  const { parts, head } = layOutRepository({ ...read, ...reading }, options)
  return [...parts, head]
}

const digests = (parts: readonly Part[]) => new Map(parts.map((part) => [part.scope, part.digest]))
const entitiesOf = (parts: readonly Part[]) => parts.flatMap(({ entities }) => entities)
const sortedKeys = (parts: readonly Part[]) =>
  entitiesOf(parts)
    .map(({ key }) => key)
    .toSorted()
const relationsOf = (parts: readonly Part[], name: string) =>
  parts.flatMap(({ relations }) =>
    relations
      .filter(({ relation }) => relation === name)
      .map(({ from, to }) => `${from.key} -> ${to.key}`),
  )

function entity(parts: readonly Part[], key: string): SnapshotEntity {
  const found = entitiesOf(parts).find((candidate) => candidate.key === key)
  assert.ok(found, `no entity ${key}`)
  return found
}

/** Commits on 30 and 31 January and on 1 February 2024. */
function threeCommits(repository: TestRepository): string[] {
  repository.write('old name.txt', 'some text that is long enough to be recognised\n')
  repository.write('gone.txt', 'x')
  const first = repository.commit('Start <ann@example.org>')
  repository.git('mv', 'old name.txt', 'new name.txt')
  const second = repository.commit('Rename')
  repository.git('rm', '--quiet', 'gone.txt')
  const third = repository.commit('Delete\n\nCo-authored-by: Bob Builder <Bob@example.org>')
  return [first, second, third]
}

describe('the layout of a repository', () => {
  it('has a part for each thing and one for each month, what is led to before what leads there', async (t) => {
    const repository = testRepository(t)
    threeCommits(repository)
    assert.deepEqual(
      (await layOut(repository)).map(({ scope }) => scope),
      [
        'app',
        'app/files',
        'app/people',
        'app/past',
        'app/history/2024-01',
        'app/history/2024-02',
        'app/tags',
        'app/head',
      ],
    )
  })

  it('relates commits to authors, parents, files and former names', async (t) => {
    const repository = testRepository(t)
    const [first, second, third] = threeCommits(repository)
    repository.git('tag', 'v1')
    const parts = await layOut(repository)
    assert.deepEqual(relationsOf(parts, 'parent_of'), [
      `commit:app@${first} -> commit:app@${second}`,
      `commit:app@${second} -> commit:app@${third}`,
    ])
    assert.deepEqual(relationsOf(parts, 'renamed_from'), [
      'file:app:new name.txt -> file:app:old name.txt',
    ])
    assert.deepEqual(relationsOf(parts, 'tagged'), [`tag:app@v1 -> commit:app@${third}`])
    assert.deepEqual(relationsOf(parts, 'points_to'), [`branch:app@main -> commit:app@${third}`])
    assert.equal(relationsOf(parts, 'authored_by').length, 4)
    assert.equal(entity(parts, 'file:app:new name.txt').attributes['status'], 'live')
    assert.equal(entity(parts, 'file:app:old name.txt').attributes['renamedTo'], 'new name.txt')
    assert.equal(entity(parts, 'file:app:gone.txt').attributes['status'], 'deleted')
    assert.equal(entity(parts, 'repository:app').attributes['firstCommit'], first)
  })

  it('lets no relation lead outside of what is published', async (t) => {
    const repository = testRepository(t)
    threeCommits(repository)
    repository.git('tag', 'v1')
    const parts = await layOut(repository)
    const keys = new Set(entitiesOf(parts).map(({ kind, key }) => `${kind} ${key}`))
    for (const { from, to } of parts.flatMap(({ relations }) => relations)) {
      assert.ok(keys.has(`${from.kind} ${from.key}`), from.key)
      assert.ok(keys.has(`${to.kind} ${to.key}`), to.key)
    }
  })

  it('shows e-mail addresses only when asked to', async (t) => {
    const repository = testRepository(t)
    threeCommits(repository)
    repository.git('tag', '-a', '-m', 'for ann@example.org', 'v1')
    const hidden = JSON.stringify(await layOut(repository))
    assert.doesNotMatch(hidden, /example\.org/i)
    assert.match(hidden, /Ann Author/)
    const shown = JSON.stringify(await layOut(repository, { withEmails: true }))
    assert.match(shown, /ann@example\.org/)
  })

  it('changes only the parts that new commits touch', async (t) => {
    const repository = testRepository(t)
    threeCommits(repository)
    const before = digests(await layOut(repository))
    repository.write('new name.txt', 'changed')
    repository.commit('Change')
    const after = digests(await layOut(repository))
    const changed = [...after].filter(([scope, digest]) => before.get(scope) !== digest)
    assert.deepEqual(
      changed.map(([scope]) => scope),
      ['app/files', 'app/history/2024-02', 'app/head'],
    )
  })

  it('divides crowded parts by day and by hash, and loses nothing', async (t) => {
    const repository = testRepository(t)
    for (let index = 0; index < 40; index += 1) repository.write(`file ${index}`, `${index}`)
    threeCommits(repository)
    const whole = await layOut(repository)
    const small = await layOut(repository, { limits: { maxItems: 20, maxBytes: 1e6 } })
    assert.ok(small.some(({ scope }) => scope.startsWith('app/files/')))
    assert.ok(small.some(({ scope }) => scope.startsWith('app/history/2024-01/30')))
    assert.deepEqual(sortedKeys(small), sortedKeys(whole))
    for (const { entities, relations } of small) {
      assert.ok(entities.length === 1 || entities.length + relations.length <= 20)
    }
  })

  it('adds only unknown commits, in a scope of their own, when the history is incomplete', async (t) => {
    const repository = testRepository(t)
    const [first, , third = ''] = threeCommits(repository)
    const parts = await layOut(repository, {
      reading: { historyComplete: false },
      isKnown: (sha) => sha === first,
    })
    const scopes = parts.map(({ scope }) => scope)
    const extra = `app/extra/${third.slice(0, 12)}`
    assert.deepEqual(
      scopes.filter((scope) => scope.includes('/extra/')),
      [`${extra}/people`, `${extra}/past`, `${extra}/2024-01`, `${extra}/2024-02`],
    )
    assert.ok(!scopes.some((scope) => scope.startsWith('app/history')))
    assert.ok(!entitiesOf(parts).some(({ key }) => key === `commit:app@${first}`))
  })

  it('of an empty repository names the repository and an unborn branch', async (t) => {
    const parts = await layOut(testRepository(t))
    assert.deepEqual(
      entitiesOf(parts).map(({ key }) => key),
      ['repository:app', 'branch:app@main'],
    )
  })
})
