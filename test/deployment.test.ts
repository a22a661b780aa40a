import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Namespace } from 'kubernetes-models/v1/Namespace'
import { Service } from 'kubernetes-models/v1/Service'
import { parse, parseAllDocuments } from 'yaml'
import { VARIABLES } from '../src/config.ts'
import { ROLES } from '../src/roles.ts'

const DEPLOY = join(import.meta.dirname, '../deploy')
const KINDS = [ConfigMap, Deployment, Job, Namespace, NetworkPolicy, PodDisruptionBudget, Service]
const KUSTOMIZATION = 'kustomization.yaml'

const files = globSync('*.yaml', { cwd: join(DEPLOY, 'kubernetes') }).toSorted()
const read = (name: string) => readFileSync(join(DEPLOY, 'kubernetes', name), 'utf8')
const manifests = files
  .filter((name) => name !== KUSTOMIZATION)
  .flatMap((name) => parseAllDocuments(read(name)))
  .map((document): unknown => document.toJS())
const deployments = manifests.filter((one) => Deployment.is(one))
const containers = deployments.flatMap(({ spec }) => spec?.template.spec?.containers ?? [])

describe('the manifests for Kubernetes', () => {
  it('are valid by the schemas of their kinds', () => {
    for (const manifest of manifests) {
      const Kind = KINDS.find((kind) => kind.is(manifest))
      assert.ok(Kind, JSON.stringify(manifest))
      new Kind(manifest as object).validate()
    }
    const broken = { ...deployments[0], spec: { replicas: 'two' } }
    assert.throws(() => new Deployment(broken as object).validate())
  })

  it('are all listed', () => {
    const { resources } = parse(read(KUSTOMIZATION)) as { resources: string[] }
    assert.deepEqual([...resources, KUSTOMIZATION].toSorted(), files)
  })

  it('select pods that there are', () => {
    const pods = deployments.map(({ spec }) => JSON.stringify(spec?.template.metadata?.labels))
    const selectors = [
      ...manifests.filter((one) => Service.is(one)).map(({ spec }) => spec?.selector),
      ...manifests
        .filter((one) => PodDisruptionBudget.is(one))
        .map(({ spec }) => spec?.selector?.matchLabels),
    ]
    assert.equal(selectors.length, 6)
    for (const selector of selectors) assert.ok(pods.includes(JSON.stringify(selector)))
  })

  it('run every role of a production, each with probes and a disruption budget', () => {
    const roles = containers.map(({ args }) => args?.[0])
    // What an installation may do without is not among them.
    const others = ['all', 'mcp', 'migrate', 'policy']
    const expected = ROLES.filter((role) => !others.includes(role))
    assert.deepEqual(new Set(roles), new Set(expected))
    assert.equal(manifests.filter((one) => PodDisruptionBudget.is(one)).length, roles.length)
    for (const { startupProbe, livenessProbe, readinessProbe } of containers) {
      assert.ok(startupProbe && livenessProbe && readinessProbe)
    }
  })

  it('set what can be set, from maps that there are', () => {
    const maps = configMaps()
    const set = [
      ...containers.flatMap(({ env = [] }) => env.map(({ name }) => name)),
      ...[...maps.values()].flat(),
    ]
    assert.deepEqual(
      set.filter((name) => !(name in VARIABLES)),
      [],
    )
    const used = containers.flatMap(({ envFrom = [] }) =>
      envFrom.map(({ configMapRef }) => configMapRef?.name),
    )
    assert.ok(used.every((name) => name === undefined || maps.has(name)))
  })
})

function configMaps(): Map<string | undefined, string[]> {
  const maps = manifests.filter((one) => ConfigMap.is(one))
  return new Map(maps.map(({ metadata, data = {} }) => [metadata?.name, Object.keys(data)]))
}

describe('the units of systemd', () => {
  it('are units by its own check where it is installed, and start a program that is there', (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'units-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const copies = ['strata.service', 'strata@.service'].map((unit) => {
      const text = readFileSync(join(DEPLOY, 'systemd', unit), 'utf8')
      assert.match(
        text,
        /^ExecStart=\/usr\/bin\/env node \/opt\/strata\/bin\/strata.mjs (all|%i)$/m,
      )
      const copy = join(folder, unit.replace('@', '@api'))
      writeFileSync(copy, text)
      return copy
    })
    try {
      analyze('--version')
    } catch {
      t.skip('systemd-analyze is not installed')
      return
    }
    for (const copy of copies) assert.equal(analyze('verify', '--man=no', copy), '')
  })
})

function analyze(...words: string[]): string {
  return execFileSync('systemd-analyze', words, { encoding: 'utf8', stdio: 'pipe' })
}
