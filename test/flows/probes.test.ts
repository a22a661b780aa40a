import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { databaseUrl } from '#db/address.ts'
import { METRICS } from '#observe/metric-table.ts'
import { ownDatabase } from '../support/db.ts'
import { startRole } from '../support/program.ts'

interface Ready {
  status: string
  checks: Record<string, { status: string }>
}

async function look(base: string, path: string) {
  const response = await fetch(`${base}${path}`)
  return { status: response.status, text: await response.text() }
}

describe('roles that serve no API', () => {
  it('show their health and metrics at a port of their own', async (t) => {
    const controlPlane = await ownDatabase(t, 'control-plane', 'app')
    const memory = await ownDatabase(t, 'memory', 'app')
    const settings = {
      CP_DATABASE_URL: databaseUrl(controlPlane.address('app')),
      CB_DATABASE_URL: databaseUrl(memory.address('app')),
      CB_SERVER_PORT: '0',
      CP_METRICS_PORT: '0',
      CP_CONTEXT_PROVIDER: 'http',
      CP_CONTEXT_BASE_URL: 'http://127.0.0.1:9',
    }
    await Promise.all(
      (['worker', 'adapter', 'memory'] as const).map(async (role) => {
        const running = startRole(t, role, settings)
        const [, base = ''] = await running.hears(/metrics are at (\S+)\/health\/ready/)
        await running.hears(/is ready/)
        assert.deepEqual(await look(base, '/health/live'), { status: 200, text: '{"status":"ok"}' })

        const ready = await look(base, '/health/ready')
        assert.equal(ready.status, 200, ready.text)
        const { checks } = JSON.parse(ready.text) as Ready
        const states = Object.entries(checks).map(([name, { status }]) => `${name} ${status}`)
        const expected = {
          worker: ['database ok', 'journal ok', 'content ok'],
          adapter: ['database ok', 'journal ok', 'memory unreachable'],
          memory: ['database ok'],
        }
        assert.deepEqual(states, expected[role])

        const { text } = await look(base, '/metrics')
        assert.match(text, new RegExp(`^strata_build_info\\{.*role="${role}"\\} 1$`, 'm'))
        const pool = role === 'memory' ? 'memory' : 'control_plane'
        assert.match(text, new RegExp(`^db_pool_connections_max\\{pool="${pool}"\\} 10$`, 'm'))
        assert.equal(/^sessions_live \d+$/m.test(text), role !== 'memory')
        const types = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)
        const names = Object.values(METRICS).map(({ name }) => name)
        assert.deepEqual(types.toSorted(), names.toSorted())
        assert.equal((await look(base, '/api/v1/me')).status, 404)

        running.kill('SIGTERM')
        assert.equal(await running.ended, 0, running.said())
        const lines = running
          .said()
          .split('\n')
          .filter((line) => line.startsWith('{'))
        const said = lines.map((line) => JSON.parse(line) as { msg: string; role: string })
        assert.ok(said.every((line) => line.role === role))
        for (const msg of ['Started', 'Stopping', 'Stopped']) {
          assert.equal(said.filter((line) => line.msg === msg).length, 1, running.said())
        }
      }),
    )
  })
})
