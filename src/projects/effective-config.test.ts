import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { effectiveConfig, effectiveOfLine } from './effective-config.ts'
import type { ProjectLayers } from './effective-config.ts'
import { UNRESTRICTED } from './governance.ts'

function project(changes: Partial<ProjectLayers> = {}): ProjectLayers {
  return { projectId: 'p', template: {}, revision: {}, settings: {}, ...changes }
}

describe('the configuration in force', () => {
  it('has of each key the last of template, ancestor, revision and profile, and says which', () => {
    const parent = project({ revision: { b: 'ancestor', c: 'ancestor', d: { deep: 'ancestor' } } })
    const child = project({
      template: { a: 'template', b: 'template', c: 'template', d: { other: 'template' } },
      revision: { c: 'revision', e: 'revision' },
      settings: { e: 'profile' },
    })
    const { config, provenance } = effectiveConfig(effectiveOfLine([parent]), child)
    assert.deepEqual(config, {
      a: 'template',
      b: 'ancestor',
      c: 'revision',
      d: { deep: 'ancestor' },
      e: 'profile',
      governance: UNRESTRICTED,
    })
    assert.deepEqual(provenance, {
      a: 'template',
      b: 'ancestor',
      c: 'revision',
      d: 'ancestor',
      e: 'profile',
    })
  })

  it('is no stricter than nothing where no layer says anything', () => {
    assert.deepEqual(effectiveConfig(undefined, project()), {
      config: { governance: UNRESTRICTED },
      provenance: {},
    })
    assert.equal(effectiveOfLine([]), undefined)
  })

  it('says of each rule which layer made it as strict as it is', () => {
    const parent = project({
      revision: {
        governance: {
          maxRunActions: 10,
          maxAutonomyLevel: 'assisted',
          requireApprovalForRun: true,
        },
      },
    })
    const child = project({
      template: { governance: { maxRunActions: 50, maxRunDurationSeconds: 60 } },
      revision: {
        governance: {
          maxAutonomyLevel: 'supervised',
          maxRunDurationSeconds: 60,
          allowedTaskPriorities: ['low'],
        },
      },
    })
    const { config, provenance } = effectiveConfig(effectiveOfLine([parent]), child)
    assert.deepEqual(config.governance, {
      ...UNRESTRICTED,
      maxRunActions: 10,
      maxAutonomyLevel: 'supervised',
      requireApprovalForRun: true,
      maxRunDurationSeconds: 60,
      allowedTaskPriorities: ['low'],
    })
    assert.deepEqual(provenance, {
      'governance.maxRunDurationSeconds': 'template',
      'governance.maxRunActions': 'ancestor',
      'governance.requireApprovalForRun': 'ancestor',
      'governance.maxAutonomyLevel': 'revision',
      'governance.allowedTaskPriorities': 'revision',
    })
  })

  it('keeps a weak template from counting under a strict ancestor', () => {
    const parent = project({ revision: { governance: { maxConcurrentRuns: 1 } } })
    const child = project({ template: { governance: { maxConcurrentRuns: 9 } } })
    const { config, provenance } = effectiveConfig(effectiveOfLine([parent]), child)
    assert.equal(config.governance.maxConcurrentRuns, 1)
    assert.equal(provenance['governance.maxConcurrentRuns'], 'ancestor')
  })
})
