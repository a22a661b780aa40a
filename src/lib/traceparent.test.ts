import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseTraceparent } from './traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

describe('traceparent', () => {
  it('is read in its version and in later ones that say more', () => {
    const parent = { traceId: TRACE, spanId: SPAN, flags: 1 }
    assert.deepEqual(parseTraceparent(`00-${TRACE}-${SPAN}-01`), parent)
    assert.deepEqual(parseTraceparent(`cc-${TRACE}-${SPAN}-01`), parent)
    assert.deepEqual(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future`), parent)
  })

  it('is nothing when it is anything else', () => {
    for (const header of [
      undefined,
      '',
      TRACE,
      `00-${TRACE}-${SPAN}`,
      `00-${TRACE}-${SPAN}-01-more`,
      `00-${TRACE}-${SPAN}-01\n`,
      `ff-${TRACE}-${SPAN}-01`,
      `00-${TRACE.toUpperCase()}-${SPAN}-01`,
      `00-${'0'.repeat(32)}-${SPAN}-01`,
      `00-${TRACE}-${'0'.repeat(16)}-01`,
      `00-${TRACE}-${SPAN}-1`,
      `00-${TRACE}-${SPAN}-zz`,
    ]) {
      assert.equal(parseTraceparent(header), undefined, header)
    }
  })
})
