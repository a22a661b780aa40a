#!/usr/bin/env node
// curl as far as our pages use it, for machines without one.
import { readFileSync, writeFileSync } from 'node:fs'

const request = {
  url: '',
  method: undefined,
  headers: {},
  body: undefined,
  output: undefined,
  failing: false,
}
const words = process.argv.slice(2)
for (let word = words.shift(); word !== undefined; word = words.shift()) {
  if (word === '-s') continue
  else if (word === '--fail-with-body') request.failing = true
  else if (word === '-X') request.method = words.shift()
  else if (word === '-d') request.body = words.shift()
  else if (word === '--data-binary') request.body = readFileSync((words.shift() ?? '').slice(1))
  else if (word === '-o') request.output = words.shift()
  else if (word === '-H') {
    const [name = '', ...value] = (words.shift() ?? '').split(':')
    request.headers[name] = value.join(':').trim()
  } else if (word.startsWith('-')) {
    process.stderr.write(`stand-in for curl: ${word} is not known\n`)
    process.exit(2)
  } else request.url = word
}
const { url, headers, body, failing } = request
const method = request.method ?? (body === undefined ? 'GET' : 'POST')
const response = await fetch(url, { method, headers, ...(body !== undefined && { body }) })
const bytes = Buffer.from(await response.arrayBuffer())
if (request.output === undefined) process.stdout.write(bytes)
else writeFileSync(request.output, bytes)
if (failing && !response.ok) process.exitCode = 22
