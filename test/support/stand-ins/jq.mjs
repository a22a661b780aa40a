#!/usr/bin/env node
// jq as far as our pages use it, for machines without one: jq -r .path.to.value [file]
import { readFileSync } from 'node:fs'

const [option, path = '', file = 0, ...rest] = process.argv.slice(2)
if (option !== '-r' || !/^(\.\w+)+$/.test(path) || rest.length > 0) {
  process.stderr.write('stand-in for jq: only -r .path.to.value is known\n')
  process.exit(2)
}
const value = path
  .slice(1)
  .split('.')
  .reduce((object, key) => object?.[key] ?? null, JSON.parse(readFileSync(file, 'utf8')))
process.stdout.write(`${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
