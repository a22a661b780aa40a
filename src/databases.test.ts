import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readConfig } from './config.ts'
import { externalDatabases, namedDatabases } from './databases.ts'

const URL = 'postgres://nobody@localhost/nowhere'

describe('the databases of a process', () => {
  it('are those that have a URL, so that memory can be migrated without a control plane', () => {
    assert.deepEqual(namedDatabases(readConfig({ CB_DATABASE_URL: URL })), ['memory'])
    assert.deepEqual(namedDatabases(readConfig({ CP_DATABASE_URL: URL })), ['control_plane'])
    const both = readConfig({ CP_DATABASE_URL: URL, CB_DATABASE_URL: URL })
    assert.deepEqual(namedDatabases(both), ['control_plane', 'memory'])
  })

  it('are asked for in one sentence when none is named, or not the one that is needed', () => {
    assert.throws(
      () => namedDatabases(readConfig({})),
      /^StartError: Cannot start: neither CP_DATABASE_URL nor CB_DATABASE_URL is set$/,
    )
    assert.throws(
      () => externalDatabases(readConfig({ CP_DATABASE_URL: URL }), ['memory']),
      /^StartError: Cannot start: CB_DATABASE_URL is not set/,
    )
  })
})
