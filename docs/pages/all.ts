import { controlPlaneRoutes, memoryRoutes } from '#contract/all.ts'
import { openapi } from '#http/openapi.ts'
import { API_INFO } from '../../src/app.ts'
import { cliPage } from './cli.ts'
import { configurationPage } from './configuration.ts'
import { eventsPage } from './events.ts'
import { metricsPage } from './metrics.ts'

const MEMORY_INFO = {
  title: 'Strata memory service',
  version: '1',
  description:
    'Durable memory of agents: observations, documents, facts, and the context made of them.',
}

/** Every generated page: path from the root of the repository -> text. */
export function generatedPages(): Record<string, string> {
  return {
    'docs/openapi.json': json(openapi(controlPlaneRoutes, API_INFO)),
    'docs/memory-openapi.json': json(openapi(memoryRoutes, MEMORY_INFO)),
    'docs/configuration.md': configurationPage('en'),
    'docs/configuration.ru.md': configurationPage('ru'),
    'docs/cli.md': cliPage('en'),
    'docs/cli.ru.md': cliPage('ru'),
    'docs/events.md': eventsPage('en'),
    'docs/events.ru.md': eventsPage('ru'),
    'docs/metrics.md': metricsPage('en'),
    'docs/metrics.ru.md': metricsPage('ru'),
  }
}

function json(document: object): string {
  return `${JSON.stringify(document, undefined, 2)}\n`
}
