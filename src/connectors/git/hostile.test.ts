import assert from 'node:assert/strict'
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { TestRepository } from '../../../test/support/git-repository.ts'
import { gitAt, testFolder, testRepository } from '../../../test/support/git-repository.ts'
import { readBlobs } from './blobs.ts'
import { openRepository, readRepository } from './repository.ts'

describe('what cannot be read', () => {
  it('is a folder that is missing or no repository, and a machine without git', async (t) => {
    const folder = testFolder(t)
    await assert.rejects(openRepository(gitAt(join(folder, 'none'))), {
      problem: 'folder_missing',
      message: /no such folder/,
    })
    await assert.rejects(openRepository(gitAt(folder)), {
      problem: 'not_a_repository',
      message: /not a git repository/,
    })
    await assert.rejects(openRepository({ ...gitAt(folder), env: { PATH: folder } }), {
      problem: 'git_missing',
      message: /not installed/,
    })
  })

  it('stops when the caller stops', async (t) => {
    const signal = AbortSignal.abort(new Error('enough'))
    const git = { ...gitAt(testRepository(t).path), signal }
    await assert.rejects(openRepository(git), { message: 'enough' })
  })
})

describe('a hostile repository', () => {
  it('runs none of its own programs', async (t) => {
    const repository = testRepository(t)
    repository.write('a.txt', 'one')
    repository.write('.gitattributes', '*.txt diff=evil')
    repository.commit('Start')
    repository.write('a.txt', 'two')
    repository.commit('More')
    repository.git('tag', '-a', 'v1', '-m', 'one')
    signHead(t, repository)
    const marker = join(testFolder(t), 'marker')
    const program = hostileProgram(t, marker)
    for (const setting of HOSTILE_SETTINGS) repository.git('config', setting, program)
    repository.git('config', 'log.showSignature', 'true')
    repository.git('config', 'remote.origin.promisor', 'true')
    repository.git('config', 'extensions.partialClone', 'origin')
    repository.git('config', 'remote.origin.url', `ext::${program}`)
    repository.git('config', 'protocol.ext.allow', 'always')
    repository.git('log')
    assert.equal(existsSync(marker), true, 'a careless reader runs them')
    rmSync(marker)
    const git = gitAt(repository.path)
    const limits = { maxCommits: 100, maxChangesPerCommit: 100 }
    const reading = await readRepository(git, await openRepository(git), limits)
    assert.equal(reading.commits.length, 2)
    for await (const blob of readBlobs(git, ['1'.repeat(40)])) {
      assert.equal(blob, undefined)
    }
    assert.equal(existsSync(marker), false)
  })
})

const HOSTILE_SETTINGS = [
  'core.fsmonitor',
  'core.pager',
  'core.sshCommand',
  'core.alternateRefsCommand',
  'diff.external',
  'diff.evil.command',
  'diff.evil.textconv',
  'filter.evil.smudge',
  'filter.evil.clean',
  'gpg.program',
  'pager.log',
]

/** Replaces the head by a copy with a signature, which makes git call the program that verifies it. */
function signHead(t: TestContext, repository: TestRepository): void {
  const signature = '-----BEGIN PGP SIGNATURE-----\n \n AAAA\n -----END PGP SIGNATURE-----'
  const commit = repository.git('cat-file', 'commit', 'HEAD')
  const file = join(testFolder(t), 'commit')
  writeFileSync(file, `${commit.replace('\n\n', `\ngpgsig ${signature}\n\n`)}\n`)
  repository.git('reset', '--quiet', repository.git('hash-object', '-t', 'commit', '-w', file))
}

function hostileProgram(t: TestContext, marker: string): string {
  const folder = testFolder(t)
  const program = join(folder, 'evil.sh')
  writeFileSync(program, `#!/bin/sh\ntouch ${marker}\nexit 1\n`)
  chmodSync(program, 0o755)
  return program
}
