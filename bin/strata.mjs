#!/usr/bin/env node
import { join } from 'node:path'
import { ROOT, runFile } from './node.mjs'

await runFile(join(ROOT, 'src/main.ts'), process.argv.slice(2))
