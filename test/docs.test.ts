import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { controlPlaneRoutes, memoryRoutes } from '#contract/all.ts'
import type { Route } from '#contract/route.ts'
import { STATUS } from '#http/errors.ts'
import { generatedPages } from '../docs/pages/all.ts'
import { VARIABLES } from '../src/config.ts'
import { EVERY_AREA, MAY_IMPORT } from './support/import-table.ts'
import { codeBlocks, readPage, ROOT, withoutCode } from './support/markdown.ts'

const FOR_PEOPLE = ['README.md', ...globSync('docs/*.md', { cwd: ROOT })].filter(
  (file) => !file.endsWith('.ru.md'),
)
const ALL = globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
const russian = (file: string) => file.replace(/\.md$/, '.ru.md')

describe('the pages', () => {
  for (const file of FOR_PEOPLE) {
    it(`${file} says the same in Russian`, () => {
      const [english, other] = [readPage(file), readPage(russian(file))]
      assert.deepEqual(outline(other), outline(english))
      assert.deepEqual(codeOf(other), codeOf(english))
      assert.match(withoutCode(other), /[а-яё]{3}/i)
    })
  }

  it('name only headings and files that are there', () => {
    const broken = ALL.flatMap((file) =>
      linksOf(readPage(file))
        .filter((link) => !leads(file, link))
        .map((link) => `${file}: ${link}`),
    )
    assert.deepEqual(broken, [])
  })

  it('name only paths of the repository that are there', () => {
    const pattern = /`((?:src|test|docs|bin|demo|bench|migrations)\/[\w./-]+)`/g
    assert.deepEqual(
      mentions(pattern).filter(({ text }) => !existsSync(join(ROOT, text))),
      [],
    )
  })

  it('name only settings that exist', () => {
    const known = [...Object.keys(VARIABLES), 'STRATA_TEST_SERVER']
    const unknown = mentions(/\b((?:CP|CB|STRATA)_[A-Z0-9_]+)/g).filter(
      ({ text }) => !known.includes(text),
    )
    assert.deepEqual(unknown, [])
    const sources = globSync('src/{cli,prompt}/**/*.ts', { cwd: ROOT }).map(readPage).join('\n')
    const strange = mentions(/\b(CONTROL_PLANE_[A-Z_]+)/g).filter(
      ({ text }) => !sources.includes(text),
    )
    assert.deepEqual(strange, [])
  })

  it('name only commands that exist', () => {
    const { scripts } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> }
    const missing = mentions(/npm run (?:-s )?([\w:-]+)/g).filter(({ text }) => !(text in scripts))
    assert.deepEqual(missing, [])
    const names = COMMANDS.map(({ name }) => name)
    const unknown = mentions(/(?:`|npx |^)control-plane ((?:[a-z]+ ?)+)/gm).filter(({ text }) => {
      return !names.some((name) => `${text} `.startsWith(`${name} `))
    })
    assert.deepEqual(unknown, [])
  })

  it('name only routes that exist', () => {
    const routes = [controlPlaneRoutes, memoryRoutes].flatMap((api) => Object.values<Route>(api))
    const probes = ['/health/live', '/health/ready', '/metrics', '/openapi.json', '/docs']
    const known = [
      ...routes.map(({ method, path }) => `${method} ${plain(path)}`),
      ...probes.map((path) => `GET ${path}`),
    ]
    const unknown = mentions(/`((?:GET|POST|PUT|PATCH|DELETE) \/[^\s`]+)/g).filter(({ text }) => {
      const [method = '', path = ''] = plain(text).split(' ')
      const full = [path, `/api/v1${path}`].map((one) => `${method} ${one}`)
      return !path.includes('*') && !full.some((one) => known.includes(one))
    })
    assert.deepEqual(unknown, [])
  })

  it('give every error code its status', () => {
    const known = Object.entries(STATUS).map(([code, status]) => `${status} ${code}`)
    const rows = mentions(/`([a-z]+_[a-z_]+` +\| \d{3}) /g).map(({ file, text }) => {
      const [code = '', status = ''] = text.split(/` +\| /)
      return { file, text: `${status} ${code}` }
    })
    const wrong = [...rows, ...mentions(/`(\d{3} [a-z_]+)`/g)].filter(
      ({ text }) => !known.includes(text),
    )
    assert.ok(rows.length > 0)
    assert.deepEqual(wrong, [])
  })

  it('that are made from the code are up to date', () => {
    const old = Object.entries(generatedPages()).filter(([file, text]) => readPage(file) !== text)
    assert.deepEqual(
      old.map(([file]) => file),
      [],
      'run npm run docs',
    )
  })
})

describe('README', () => {
  for (const [file, heading] of [
    ['README.md', 'Two commands'],
    ['README.ru.md', 'Две команды'],
  ] as const) {
    it(`${file} gives exactly two commands, and what they need above them`, () => {
      const text = readPage(file)
      const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
      assert.deepEqual(
        codeBlocks(section).map((block) => block.text),
        ['npm ci && npm run demo\n', 'npm ci && npm test\n'],
      )
      const [above = ''] = text.split(heading)
      assert.match(above, /Node\.js 20/)
      assert.match(above, /Apple silicon: .*24\.12/)
      assert.match(above, /musl/)
    })
  }
})

describe('AGENTS.md', () => {
  const text = readPage('AGENTS.md')

  it('is short enough to be read at every start', () => {
    assert.ok(text.split('\n').length <= 121)
  })

  it('has the import table that is tested', () => {
    const rows = new Map(
      [...text.matchAll(/^\| (`[\w-]+`(?:, `[\w-]+`)*) +\| (.*?) *\|$/gm)].flatMap(
        ([, folders = '', may = '']) =>
          folders
            .split(', ')
            .map((folder): [string, string[]] => [
              folder.replaceAll('`', ''),
              may.match(/[a-z]+(-[a-z]+)*/g) ?? [],
            ]),
      ),
    )
    const folders = globSync('src/*/', { cwd: ROOT }).map((path) => path.split(/[\\/]/)[1] ?? '')
    const known = [...EVERY_AREA] as string[]
    for (const folder of folders) {
      const allowed = MAY_IMPORT[folder] ?? []
      const isArea = EVERY_AREA.every((name) => allowed.includes(name))
      const own = isArea ? allowed.filter((name) => !known.includes(name)) : allowed
      const told = (rows.get(folder) ?? ['no row']).filter((name) => name in MAY_IMPORT)
      assert.deepEqual(told.toSorted(), own.toSorted(), folder)
    }
  })
})

describe('the decisions', () => {
  it('have a number each', () => {
    const numbers = globSync('docs/decisions/*.md', { cwd: ROOT }).map(
      (file) => /(\d{4})-[^/\\]+\.md$/.exec(file)?.[1] ?? file,
    )
    assert.deepEqual(
      numbers.filter((number, index) => numbers.indexOf(number) !== index),
      [],
    )
  })
})

/** Everything in the pages that the pattern's group matches. */
function mentions(pattern: RegExp): { file: string; text: string }[] {
  return ALL.flatMap((file) =>
    [...readPage(file).matchAll(pattern)].map(([, text = '']) => ({ file, text: text.trim() })),
  )
}

/** Levels of the headings and sizes of the tables, in order. */
function outline(text: string): string[] {
  return [...withoutCode(text).matchAll(/^(#+) |^(\|)/gm)].map(([, heading, row]) => {
    return heading ?? row ?? ''
  })
}

/** The code of a page; its comments are words. */
function codeOf(text: string): string[] {
  return codeBlocks(text).map((block) => block.text.replaceAll(/ +# .*$/gm, ''))
}

function linksOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^https?:/.test(link))
}

/** Whether a relative link leads to a file, and to a heading of it where it names one. */
function leads(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? from : join(dirname(from), path)
  if (!existsSync(join(ROOT, target))) return false
  if (anchor === undefined) return true
  const headings = [...readPage(target).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
  return headings.includes(decodeURIComponent(anchor))
}

/** A path with every placeholder alike, without a query string. */
function plain(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '{}').replace(/\?.*$/, '')
}
