import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import type { Hono } from 'hono'
import { controlPlaneRoutes, memoryRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { honoPath } from '#http/input.ts'
import { jsonLog } from '#lib/log.ts'
import { createMemoryApp } from '#memory/app.ts'
import { generatedPages } from '../docs/pages/all.ts'
import { sharedDb, sharedMemoryDb } from './support/db.ts'
import { MEMORY_SETTINGS } from './support/memory.ts'
import { wholeApp } from './support/whole.ts'

const pages = generatedPages()
const controlPlane = wholeApp(await sharedDb(), null)
const memory = createMemoryApp({
  db: await sharedMemoryDb(),
  log: jsonLog(
    (line) => process.stderr.write(line),
    () => new Date(),
  ),
  settings: MEMORY_SETTINGS,
})

const APIS = [
  { name: 'control plane', app: controlPlane, routes: controlPlaneRoutes, page: 'openapi.json' },
  { name: 'memory service', app: memory, routes: memoryRoutes, page: 'memory-openapi.json' },
] as const

describe('the API document', () => {
  for (const { name, app, routes, page } of APIS) {
    const document = parse(pages[`docs/${page}`])

    it(`of the ${name} is valid OpenAPI 3.1, with every reference in it resolved`, async () => {
      const validator = new Validator()
      const { valid, errors } = await validator.validate({ ...document })
      assert.ok(valid, JSON.stringify(errors))
      assert.equal(validator.version, '3.1')
      const { schemas } = document.components
      const named = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)
      const targets = [...named].map(([, target = '']) => target)
      const known = Object.keys(schemas).map((schema) => `#/components/schemas/${schema}`)
      assert.deepEqual(
        targets.filter((target) => !known.includes(target)),
        [],
      )
    })

    it(`of the ${name} names exactly what the application serves`, () => {
      const promised = Object.values<Route>(routes).map(
        ({ method, path }) => `${method} ${honoPath(path)}`,
      )
      assert.deepEqual(served(app).toSorted(), promised.toSorted())
    })

    it(`of the ${name} describes each operation under its path and method`, () => {
      const { paths } = document
      for (const [operationId, { method, path }] of Object.entries<Route>(routes)) {
        assert.equal(paths[path]?.[method.toLowerCase()]?.operationId, operationId)
      }
      const count = Object.values(paths).flatMap((methods) => Object.keys(methods)).length
      assert.equal(count, Object.keys(routes).length, 'two routes share a path and a method')
    })
  }

  it('is served by the control plane as it is in the repository', async () => {
    const response = await controlPlane.request('/openapi.json')
    assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
    assert.deepEqual(await response.json(), parse(pages['docs/openapi.json']))
  })

  it('has a page for people that names every route', async () => {
    const page = await (await controlPlane.request('/docs')).text()
    const missing = Object.values<Route>(controlPlaneRoutes).filter(
      ({ path }) => !page.includes(path),
    )
    assert.deepEqual(missing, [])
    assert.equal((await controlPlane.request('/')).headers.get('location'), '/docs')
  })
})

interface ApiDocument {
  components: { schemas: Record<string, object> }
  paths: Record<string, Record<string, { operationId: string }>>
}

function parse(text: string | undefined): ApiDocument {
  return JSON.parse(text ?? '') as ApiDocument
}

/** What the application answers, without middleware, the document itself and the probes. */
function served(app: Hono): string[] {
  const others = ['/', '/openapi.json', '/docs', '/health/live', '/health/ready', '/metrics']
  return app.routes
    .filter(({ method, path }) => method !== 'ALL' && !others.includes(path))
    .map(({ method, path }) => `${method} ${path}`)
}
