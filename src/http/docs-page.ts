import { html, raw } from 'hono/html'
import type { Route } from '#contract/route.ts'
import { z } from 'zod'
import { fieldRows } from './field-rows.ts'
import type { Schema } from './field-rows.ts'
import type { ApiInfo } from './openapi.ts'

/** A page of an API for people: no script, nothing from elsewhere, readable without a style sheet. */
export function docsPage(routes: Record<string, Route>, info: ApiInfo) {
  const groups = Map.groupBy(Object.entries(routes), ([, route]) => route.tag)
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${info.title}</title>
        <style>
          ${raw(STYLE)}
        </style>
      </head>
      <body>
        <main>
          <h1>${info.title}</h1>
          <p>${info.description}</p>
          <p>
            A key goes with every call:
            <code>Authorization: Bearer &lt;key&gt;</code>. The same as data:
            <a href="/openapi.json">/openapi.json</a>
          </p>
          <nav>${[...groups.keys()].map((tag) => html`<a href="#${idOf(tag)}">${tag}</a> `)}</nav>
          ${[...groups].map(
            ([tag, entries]) =>
              html`<h2 id="${idOf(tag)}">${tag}</h2>
                ${entries.map(([name, route]) => operation(name, route))}`,
          )}
        </main>
      </body>
    </html>`
}

function idOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-')
}

function operation(name: string, route: Route) {
  return html`<details id="${name}">
    <summary>
      <code><b>${route.method}</b> ${route.path}</code> ${route.summary}
    </summary>
    <p>Access: <code>${route.access}</code>${rules(route)}</p>
    ${schemaBlock('Path', route.params)} ${schemaBlock('Query', route.query)}
    ${schemaBlock('Body', route.body)} ${schemaBlock('Reply', route.reply, 'output')}
    ${route.errors.length > 0 ? html`<p>Errors: <code>${route.errors.join(', ')}</code></p>` : ''}
  </details>`
}

function rules(route: Route): string {
  return [
    route.idempotencyKey === 'none' ? '' : `; Idempotency-Key ${route.idempotencyKey}`,
    route.ifMatch ? `; If-Match "${route.ifMatch}-<version>" required` : '',
    `; answers ${route.statuses.join(' or ')}`,
  ].join('')
}

function schemaBlock(title: string, schema: z.ZodType, io: 'input' | 'output' = 'input') {
  const rows = fieldRows(z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Schema)
  if (rows.length === 0) return ''
  return html`<h3>${title}</h3>
    <table>
      ${rows.map(
        ({ name, type, presence }) =>
          html`<tr>
            <td><code>${name}</code></td>
            <td>${type}</td>
            <td>${io === 'output' && presence !== 'optional' ? '' : presence}</td>
          </tr>`,
      )}
    </table>`
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 60rem; margin: 0 auto; padding: 1rem }
nav { display: flex; flex-wrap: wrap; gap: 0.75rem }
details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: 0.4rem 0 }
summary { cursor: pointer }
summary code { margin-right: 0.75rem }
code, td { overflow-wrap: anywhere }
table { width: 100%; border-collapse: collapse; font-size: 0.9rem; margin: 0.25rem 0 1rem }
td { padding: 0.2rem 0.75rem 0.2rem 0; vertical-align: top;
  border-top: 1px solid color-mix(in srgb, currentColor 12%, transparent) }
td:last-child { white-space: nowrap }
h3 { margin: 0.5rem 0 0; font-size: 1rem }
`
