import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, it } from 'node:test'
import { MAY_IMPORT } from './support/import-table.ts'

const ROOT = join(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')
const MAX_LINES = 300

/** Files that speak SQL outside the files for it, each with its reason. */
const SPEAKS_SQL: Readonly<Record<string, string>> = {
  'adapter/leader.ts': 'session locks on a connection of its own; leaders belong to shards',
}

/** Files that speak HTTP outside routes.ts: memory is an application of its own. */
const SPEAKS_HTTP: readonly string[] = ['memory/app.ts', 'memory/serve-memory.ts']

const sources = globSync('**/*.ts', { cwd: SRC }).map((file) => ({
  file,
  folder: file.includes(sep) ? (file.split(sep)[0] ?? '') : '',
  text: readFileSync(join(SRC, file), 'utf8'),
}))
const product = sources.filter(({ file }) => !file.endsWith('.test.ts'))

describe('the house', () => {
  it('has no folder outside the import table', () => {
    const folders = new Set(sources.map(({ folder }) => folder).filter((name) => name !== ''))
    assert.ok(folders.size > 5)
    assert.deepEqual(
      [...folders].filter((name) => !(name in MAY_IMPORT)),
      [],
    )
  })

  it('imports only what the table allows', () => {
    const broken = product.flatMap(({ file, folder, text }) => {
      if (folder === '') return []
      const allowed = [folder, ...(MAY_IMPORT[folder] ?? [])]
      const isHttp = SPEAKS_HTTP.includes(file.replaceAll(sep, '/'))
      if (isHttp || file.endsWith(`${sep}routes.ts`)) allowed.push('http')
      return importsOf(text)
        .filter((target) => !allowed.includes(folderOf(file, target)))
        .map((target) => `${file} must not import ${target}`)
    })
    assert.deepEqual(broken, [])
  })

  it('keeps every file short enough to read', () => {
    const files = globSync('{src,test,demo,bench,docs,bin}/**/*.{ts,mjs}', { cwd: ROOT })
    const long = files.filter((file) => {
      return readFileSync(join(ROOT, file), 'utf8').split('\n').length > MAX_LINES + 1
    })
    assert.deepEqual(long, [])
  })

  it('writes SQL in the files for it alone', () => {
    const stray = product
      .filter(({ file, folder }) => {
        const isMeantTo = file.endsWith('.sql.ts') || ['db', 'events', 'jobs'].includes(folder)
        return !isMeantTo && !(file.replaceAll(sep, '/') in SPEAKS_SQL)
      })
      .flatMap(({ file, text }) => statements(text).map((sql) => `${file}: ${sql.slice(0, 60)}`))
    assert.deepEqual(stray, [])
  })

  it('names the tenant or the namespace in every query', () => {
    const queries = product.filter(({ file }) => file.endsWith('.sql.ts'))
    const open = queries.flatMap(({ file, text }) => {
      return statements(text)
        .filter((sql) => !/\b(tenant_?id|namespace(_id|s)?)\b/i.test(sql))
        .map((sql) => `${file}: ${sql}`)
    })
    assert.deepEqual(open, [])
  })

  it('reserves no connection, whose loss between two queries would end the process', () => {
    const reserving = product.filter(({ text }) => text.includes('.reserve()'))
    // It sends all it has to ask at once.
    assert.deepEqual(
      reserving.map(({ file }) => file),
      [join('db', 'check-server.ts')],
    )
  })

  it('says no registry in the lock file', () => {
    assert.doesNotMatch(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'), /"resolved"/)
  })
})

describe('the checks of the house', () => {
  it('find imports in every form', () => {
    const text = `import a from '#lib/a.ts'
      import type { B } from '../db/b.ts'
      export { c } from './c.ts'
      import '#http/d.ts'
      const e = await import('#org/e.ts')`
    assert.deepEqual(
      importsOf(text).map((target) => folderOf(join('work', 'x.ts'), target)),
      ['lib', 'db', 'work', 'http', 'org'],
    )
  })

  it('find whole statements, with templates inside them, and no fragments', () => {
    const text =
      'await sql<Row[]>`\n select 1 from a where ${x ? sql`b = ${y}` : sql``} and c = 1`; sql`and d = 2`'
    assert.deepEqual(statements(text), ['select 1 from a where  and c = 1'])
  })
})

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(#[^']+|\.[^']+)'/g)].map(
    ([, target = '']) => target,
  )
}

function folderOf(file: string, target: string): string {
  const path = target.startsWith('#')
    ? target.slice(1)
    : relative(SRC, join(SRC, dirname(file), target))
  return path.split(/[\\/]/)[0] ?? ''
}

/** The SQL of tagged templates that are statements of their own, without what is put into them. */
function statements(text: string): string[] {
  const found: string[] = []
  for (const match of text.matchAll(/\b(?:sql|db|tx|connection)(?:<[^`;]*?>)?`/g)) {
    const sql = templateAt(text, match.index + match[0].length).trim()
    if (/^(select|insert|update|delete|merge|with)\s/i.test(sql)) found.push(sql)
  }
  return found
}

function templateAt(text: string, start: number): string {
  let outside = ''
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const two = text.slice(at, at + 2)
    if (depth === 0 && text[at] === '`') break
    if (two === '${') {
      depth++
      at++
    } else if (depth > 0 && text[at] === '{') depth++
    else if (depth > 0 && text[at] === '}') depth--
    else if (depth === 0) outside += text[at] ?? ''
  }
  return outside
}
