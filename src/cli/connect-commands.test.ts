import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { person } from '../../test/support/cli.ts'
import { sharedDb, sharedMemoryDb } from '../../test/support/db.ts'
import { testRepository } from '../../test/support/git-repository.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { testMemory } from '../../test/support/memory.ts'

const workspace = crypto.randomUUID()

const db = await sharedDb()
const memory = testMemory(await sharedMemoryDb())

describe('connect git', () => {
  it('publishes a repository to its workspace, and the second time only what changed', async (t) => {
    const repository = testRepository(t)
    repository.write('README.md', '# Shop\n\nPrices are in cents.\n')
    repository.commit('First')
    const { say, json } = await adminPerson(t, db, memory)
    await say('workspace', 'create', 'shop')
    const connect = ['connect', 'git', repository.path, '--workspace', 'shop', '--name', 'shop']
    assert.match(
      await say(...connect),
      /^shop at \w{10}: 1 commits, 1 files, 0 tags\nsent \d+ snapsh/,
    )
    assert.match(await say(...connect), /memory is up to date, nothing was sent/)
    repository.write('src/price.ts', 'export const price = 1\n')
    repository.commit('Second')
    const { documents, commits } = await json(...connect)
    assert.deepEqual([commits, documents], [2, { stored: 0, removed: 0, unchanged: 1 }])
  })

  it('shows how far it is on stderr and what it would send as its answer', async (t) => {
    const repository = testRepository(t)
    repository.write('README.md', '# Shop\n')
    repository.commit('First')
    const { url, heard } = await fakeServer(t, (_request, response) => {
      reply(response, 200, { items: [], nextCursor: null })
    })
    const { run } = person(t, { CONTROL_PLANE_SERVER: url, CONTROL_PLANE_API_KEY: 'cp_a_b' })
    const plan = ['connect', 'git', repository.path, '--workspace', workspace, '--dry-run']
    const { code, out, err } = await run('connect', 'git', repository.path, ...plan.slice(3))
    assert.deepEqual([code, /^commits: 1$/m.test(err)], [0, true], err)
    assert.match(out, /: 1 commits, 1 files, 0 tags\nwould send \d+ snapshots with \d+ items/)
    assert.ok(
      heard.every(({ body }) => (body as { workspaceId: string }).workspaceId === workspace),
    )
    const { out: json } = await run(...plan, '--json', '--name', 'shop')
    const { repository: name, dryRun, commits } = JSON.parse(json) as Record<string, unknown>
    assert.deepEqual([name, dryRun, commits], ['shop', true, 1])
  })

  it('ends with 2 where there is no repository', async (t) => {
    const { run, folder } = person(t, { CONTROL_PLANE_API_KEY: 'cp_a_b' })
    const { code, err } = await run('connect', 'git', folder, '--workspace', workspace)
    assert.equal(code, 2)
    assert.match(err, /^control-plane: not_a_repository: /)
  })
})
