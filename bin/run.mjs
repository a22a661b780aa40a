#!/usr/bin/env node
// node bin/run.mjs path/to/file.ts arguments...
import { resolve } from 'node:path'
import { runFile } from './node.mjs'

const [file, ...args] = process.argv.slice(2)
if (file === undefined) {
  process.stderr.write('Cannot run: name a file, as in node bin/run.mjs demo/main.ts\n')
  process.exit(2)
}
await runFile(resolve(file), args)
