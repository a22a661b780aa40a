import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { controlPlaneRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { EXECUTED_PAGES } from './support/executed-pages.ts'
import { codeBlocks, readPage } from './support/markdown.ts'

const ROUTES = Object.values<Route>(controlPlaneRoutes)
const TAGS = [...new Set(ROUTES.map(({ tag }) => tag))]

describe('every resource of the API', () => {
  for (const [page, ending] of [
    ['docs/api.md', '.md'],
    ['docs/api.ru.md', '.ru.md'],
  ] as const) {
    it(`has a page that ${page} leads to`, () => {
      const pages = pagesOf(page)
      assert.deepEqual([...pages.keys()].toSorted(), TAGS.toSorted())
      const foreign = [...pages.values()].filter((file) => !file.endsWith(ending))
      assert.deepEqual(foreign, [])
    })
  }

  for (const [tag, file] of pagesOf('docs/api.md')) {
    it(`${tag} has an example that is run`, () => {
      assert.ok(EXECUTED_PAGES.includes(file), `${file} is not among the pages that are run`)
      const called = commandsOf(file)
      const own = ROUTES.filter((route) => route.tag === tag)
      assert.ok(
        own.some(({ path }) => callOf(path).test(called)),
        `${file} runs nothing of ${tag}`,
      )
    })
  }
})

/** From tag to page, as the table of resources has it. */
function pagesOf(file: string): Map<string, string> {
  const rows = readPage(file).matchAll(
    /^\| ([A-Z][\w ]*?) +\| \[[^\]]+\]\(([\w.-]+\.md)[^)]*\) +\|$/gm,
  )
  return new Map([...rows].map(([, tag = '', page = '']) => [tag, `docs/${page}`]))
}

function commandsOf(file: string): string {
  return codeBlocks(readPage(file))
    .filter(({ mark }) => mark.startsWith('run'))
    .map(({ text }) => text)
    .join('\n')
}

/** A call of the path in a shell, where what stands for a parameter is a variable or a command. */
function callOf(path: string): RegExp {
  const [, rest = ''] = path.split('/api/v1')
  const pattern = rest
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join(String.raw`(?:\$\([^)]*\)|[^/\s"'?:]+)`)
  return new RegExp(`(?:API|/api/v1|[\\s"'])${pattern}(?=["'\\s?]|$)`, 'm')
}
