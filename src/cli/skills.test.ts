import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { claimInvocation, completeInvocation } from '#contract/skill-invocations.ts'
import { adminPerson } from '../../test/support/cli-admin.ts'
import { testClient } from '../../test/support/client.ts'
import { sharedDb } from '../../test/support/db.ts'
import { givenSkill, newSkill } from '../../test/support/skills.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()

describe('skills on the command line', () => {
  it('are registered from a file, given, found, described and taken', async (t) => {
    const { folder, tenant, say, run } = await adminPerson(t, db)
    const me = tenant.ctx.actorId
    writeFileSync(join(folder, 'skill.json'), JSON.stringify(newSkill('deploy')))
    assert.match(await say('skills', 'register', 'skill.json'), /^Registered deploy@1\.0\.0 /)
    assert.match((await run('skills', 'register', 'skill.json')).err, /skill_exists/)
    assert.match(await say('skills', 'list', '--name', 'deploy'), /deploy +1\.0\.0 +active +http/)
    assert.match((await run('tools', 'list')).err, /nothing can be called here/)
    assert.match(await say('tools', 'list', '--all'), /deploy .* not_assigned/)

    assert.equal(await say('skills', 'assign', 'deploy', '--to', me), `Assigned deploy to ${me}\n`)
    assert.match(await say('tools', 'list', 'does'), /deploy +1\.0\.0 +http +none +Does deploy/)
    assert.match(await say('tools', 'describe', 'deploy@1.0.0'), /available +yes\n[^]*inputs: \{/)
    assert.equal(await say('skills', 'revoke', 'deploy', '--from', me), 'Revoked deploy\n')
    const late = await run('skills', 'revoke', 'deploy', '--from', me)
    assert.equal(late.out, 'deploy was not given there\n')
    const missing = await run('skills', 'assign', 'sign', '--to', me)
    assert.deepEqual([missing.code, /Cannot find skill "sign"/.test(missing.err)], [2, true])
    writeFileSync(join(folder, 'broken.json'), '[]')
    assert.equal((await run('skills', 'register', 'broken.json')).code, 2)
    assert.equal((await run('skills', 'register', 'absent.json')).code, 2)
  })

  it('are called for the run that was started here, and waited for', async (t) => {
    const { tenant, say, json, run } = await adminPerson(t, db)
    const admin = testClient(wholeApp(db, null), tenant.key)
    const principalId = tenant.ctx.actorId
    await givenSkill(admin, newSkill('measure'), { principalId })
    await say('task', 'create', 'Measure it')
    const early = await run('tools', 'invoke', 'measure', '--task', 'TASK-1')
    assert.match(early.err, /No run of TASK-1 is known here/)
    await say('task', 'claim', 'TASK-1')
    await say('run', 'start', 'TASK-1')
    const said = await say('tools', 'invoke', 'measure', '--task', 'TASK-1', '--key', 'once')
    const [, id = ''] = /^measure@1\.0\.0 pending (\S+)\n$/.exec(said) ?? []
    const claimed = await call(admin, claimInvocation, { params: { id } })
    const body = { fencingToken: claimed.fencingToken, outputs: { p50Ms: 12 } }
    await call(admin, completeInvocation, { params: { id }, body })
    const words = ['tools', 'invoke', 'measure', '--task', 'TASK-1', '--key', 'once']
    const again = await json(...words, '--wait', '5')
    assert.deepEqual(
      [again['id'], again['status'], again['outputs']],
      [id, 'succeeded', { p50Ms: 12 }],
    )
    const bad = await run('tools', 'invoke', 'measure', '--input', '7')
    assert.equal(bad.code, 2)
  })
})
