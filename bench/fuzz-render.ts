// Renders hostile answers until one breaks a promise of the renderer.
//   npm run fuzz:render -- --count 1000000 [--seed 7]
import { parseArgs } from 'node:util'
import { fuzzRender } from '../test/support/fuzz-render.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
  },
})
const count = Number(values.count)
const seed = Number(values.seed)
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  process.stderr.write('Cannot fuzz: --count must be a positive integer, --seed an integer\n')
  process.exit(2)
}
const started = performance.now()
const fault = fuzzRender({
  count,
  seed,
  onProgress: (done) => process.stderr.write(`\r${done} of ${count}`),
})
const seconds = ((performance.now() - started) / 1000).toFixed(1)
process.stderr.write('\n')
if (fault === undefined) {
  process.stdout.write(
    `${count} hostile answers, seed ${seed}, ${seconds} s: none left the fence\n`,
  )
} else {
  process.stdout.write(`${JSON.stringify(fault, undefined, 2)}\n`)
  process.exitCode = 1
}
