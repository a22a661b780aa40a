import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import { queryEntities } from '#contract/knowledge.ts'
import { addWorkspace, contextTenant, providerAt } from '../../../test/support/context.ts'
import { sharedDb, sharedMemoryDb } from '../../../test/support/db.ts'
import { gitAt, testFolder, testRepository } from '../../../test/support/git-repository.ts'
import type { TestRepository } from '../../../test/support/git-repository.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { knownEntities, realClock } from '../target.ts'
import type { KnownEntity, Target } from '../target.ts'
import { connectGit } from './connect-git.ts'
import type { ConnectGitOptions } from './connect-git.ts'

const db = await sharedDb()
const memory = testMemory(await sharedMemoryDb())

/** A new workspace behind a real control plane with a real memory. */
async function newTarget(): Promise<Target> {
  const provider = { ...providerAt('http://memory.invalid'), fetch: memory.fetch }
  const tenant = await contextTenant(db, provider)
  return {
    client: tenant.client,
    workspaceId: await addWorkspace(db, tenant.ctx),
    signal: AbortSignal.timeout(60_000),
    clock: realClock,
  }
}

async function publish(path: string, target: Target, over: Partial<ConnectGitOptions> = {}) {
  return await connectGit(gitAt(path), target, {
    name: 'app',
    withEmails: false,
    maxCommits: 1000,
    replace: false,
    dryRun: false,
    ...over,
  })
}

async function known(target: Target, kind: string): Promise<KnownEntity[]> {
  const entities: KnownEntity[] = []
  for await (const entity of knownEntities(target, kind, {})) entities.push(entity)
  return entities
}

async function keys(target: Target, kind: string): Promise<string[]> {
  return (await known(target, kind)).map(({ key }) => key).toSorted()
}

function start(t: TestContext): TestRepository {
  const repository = testRepository(t)
  repository.write('README.md', '# The app\n\nIt counts sheep.\n')
  repository.write('docs/guide.md', '# Guide\n\nCount with care.\n')
  repository.write('src/main.ts', 'export const sheep = 1\n')
  repository.commit('Start')
  return repository
}

describe('connecting a repository', () => {
  it('publishes it, and a second run sends nothing', async (t) => {
    const repository = start(t)
    const target = await newTarget()
    const first = await publish(repository.path, target)
    assert.deepEqual(first.warnings, [])
    assert.deepEqual(first.documents, { stored: 2, removed: 0, unchanged: 0 })
    assert.ok(first.items.opened > 10)
    assert.equal(first.items.pending, 0)
    assert.deepEqual(await keys(target, 'file'), [
      'file:app:README.md',
      'file:app:docs/guide.md',
      'file:app:src/main.ts',
    ])
    const second = await publish(repository.path, target)
    assert.equal(second.upToDate, true)
    assert.equal(second.snapshots.sent, 0)
  })

  it('after new commits sends and changes only what changed', async (t) => {
    const repository = start(t)
    const target = await newTarget()
    await publish(repository.path, target)
    repository.git('mv', 'src/main.ts', 'src/index.ts')
    repository.write('README.md', '# The app\n\nIt counts wolves.\n')
    repository.git('rm', '--quiet', 'docs/guide.md')
    const sha = repository.commit('Count wolves')
    const report = await publish(repository.path, target)
    assert.deepEqual(report.documents, { stored: 1, removed: 1, unchanged: 0 })
    assert.ok((await keys(target, 'commit')).includes(`commit:app@${sha}`))
    const files = await known(target, 'file')
    const statuses = files.map(({ attributes }) => [attributes['path'], attributes['status']])
    assert.deepEqual(
      statuses.toSorted(([a], [b]) => String(a).localeCompare(String(b))),
      [
        ['docs/guide.md', 'deleted'],
        ['README.md', 'live'],
        ['src/index.ts', 'live'],
        ['src/main.ts', 'renamed'],
      ],
    )
    // January keeps the first commit: only its people, past, files, month, tags and head can change.
    assert.ok(report.snapshots.unchanged >= 3)
    assert.equal(report.snapshots.retired, 0)
    assert.equal(report.items.pending, 0)
  })

  it('returns to an earlier state when the branch does', async (t) => {
    const repository = start(t)
    const target = await newTarget()
    await publish(repository.path, target)
    const first = repository.git('rev-parse', 'HEAD')
    const before = await keys(target, 'file')
    repository.write('src/other.ts', 'x')
    repository.commit('Other')
    await publish(repository.path, target)
    assert.equal((await keys(target, 'file')).length, before.length + 1)
    repository.git('reset', '--quiet', '--hard', first)
    await publish(repository.path, target)
    assert.deepEqual(await keys(target, 'file'), before)
    assert.deepEqual(await keys(target, 'commit'), [`commit:app@${first}`])
    assert.equal((await publish(repository.path, target)).upToDate, true)
  })

  it('lets the past be asked: a later month and the files of the head are not there yet', async (t) => {
    const repository = start(t)
    repository.commit('On 31 January')
    repository.commit('On 1 February')
    const target = await newTarget()
    await publish(repository.path, target)
    const { items } = await call(target.client, queryEntities, {
      body: {
        workspaceId: target.workspaceId,
        kinds: ['commit', 'file'],
        asOf: '2024-01-31T23:00:00Z',
      },
    })
    const titles = (items as { title: string }[]).map(({ title }) => title)
    assert.deepEqual(titles.toSorted(), [
      'On 31 January — Ann Author, 2024-01-31',
      'Start — Ann Author, 2024-01-30',
    ])
  })

  it('takes up where a run was cut off', async (t) => {
    const repository = start(t)
    const target = await newTarget()
    const whole = await newTarget()
    const complete = await publish(repository.path, whole)
    for (let calls = 1; calls <= complete.snapshots.sent + 3; calls += 1) {
      await publish(repository.path, cutOff(target, calls)).catch((error: unknown) => {
        assert.match(String(error), /cut off/)
      })
    }
    await publish(repository.path, target)
    for (const kind of ['file', 'commit', 'person', 'branch', 'import_part', 'document']) {
      assert.deepEqual(await keys(target, kind), await keys(whole, kind))
    }
    assert.equal((await publish(repository.path, target)).upToDate, true)
  })

  it('with a dry run tells what it would send and sends nothing', async (t) => {
    const target = await newTarget()
    const report = await publish(start(t).path, target, { dryRun: true })
    assert.equal(report.documents.stored, 2)
    assert.ok(report.snapshots.sent > 5)
    assert.deepEqual(await keys(target, 'import_part'), [])
  })

  it('never closes what a shallow clone does not know', async (t) => {
    const repository = start(t)
    const target = await newTarget()
    repository.write('src/a.ts', 'a')
    repository.commit('A')
    await publish(repository.path, target)
    const before = await keys(target, 'commit')
    repository.write('src/b.ts', 'b')
    const added = repository.commit('B', {
      GIT_AUTHOR_NAME: 'Bob',
      GIT_AUTHOR_EMAIL: 'bob@example.org',
    })
    const shallow = join(testFolder(t), 'shallow')
    repository.git('clone', '--quiet', '--depth=1', `file://${repository.path}`, shallow)
    const report = await publish(shallow, target)
    assert.match(report.warnings.join(), /shallow/)
    assert.deepEqual(await keys(target, 'commit'), [...before, `commit:app@${added}`].toSorted())
    assert.equal((await keys(target, 'person')).length, 2)
    assert.ok((await keys(target, 'file')).includes('file:app:src/b.ts'))
    await publish(repository.path, target)
    assert.equal((await keys(target, 'commit')).length, 3)
    assert.equal((await publish(repository.path, target)).upToDate, true)
  })

  it('refuses another repository under the same name, unless it is to replace it', async (t) => {
    const target = await newTarget()
    await publish(start(t).path, target)
    const other = testRepository(t)
    other.write('x', 'x')
    other.commit('Another beginning')
    await assert.rejects(publish(other.path, target), { problem: 'another_repository' })
    assert.equal((await keys(target, 'file')).length, 3)
    await publish(other.path, target, { replace: true })
    assert.deepEqual(await keys(target, 'commit'), [`commit:app@${other.git('rev-parse', 'HEAD')}`])
  })

  it('publishes hostile names and an empty repository', async (t) => {
    const target = await newTarget()
    const empty = testRepository(t)
    await publish(empty.path, target, { name: 'empty' })
    assert.deepEqual(await keys(target, 'repository'), ['repository:empty'])
    const hostile = testRepository(t)
    for (const name of ['line\nfeed', ' ', 'sep\u2028arator', 'x'.repeat(240), 'ё/й.md']) {
      hostile.write(name, name)
    }
    hostile.write(Buffer.from([0xff, 0xfe]), 'bytes')
    hostile.commit('Names\n\n\u0007 and a bell')
    const report = await publish(hostile.path, target, { name: 'hostile' })
    assert.deepEqual(report.warnings, [])
    assert.equal(report.items.pending, 0)
    assert.equal((await keys(target, 'file')).length, 6)
  })
})

/** The same target over a network that breaks at the n-th call. */
function cutOff(target: Target, calls: number): Target {
  const abort = new AbortController()
  const { client } = target
  let made = 0
  return {
    ...target,
    signal: abort.signal,
    client: {
      ...client,
      fetch: async (url, init) => {
        made += 1
        if (made > calls) abort.abort(new Error('cut off'))
        abort.signal.throwIfAborted()
        return await (client.fetch ?? fetch)(url, init)
      },
    },
  }
}
