import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { recalling } from '../../../test/support/recalling.ts'

const db = await sharedMemoryDb()

/** Questions with the note that answers each; the notes share words, so that order decides. */
const SET: readonly [string, string][] = [
  ['When do payouts run?', 'Payouts run every night at two'],
  ['Who is on call for payouts?', 'Anna is on call for payouts this week'],
  ['What happens when a payout fails?', 'A failed payout is tried again three times, then parked'],
  ['Where is retry_policy configured?', 'retry_policy is set in config/payouts.yaml'],
  ['How long do we keep backups?', 'Backups are kept for thirty days'],
  ['Where are backups stored?', 'Backups go to the cold bucket in the north'],
  ['Сколько раз повторяется платёж?', 'Неудачный платеж повторяют три раза'],
  ['Кто отвечает за резервные копии?', 'За резервными копиями следит Борис'],
  ['Какой порог у ошибок?', 'Порог ошибок — два процента за пять минут'],
  ['Which version of the SDK broke uploads?', 'Uploads broke with version 2.14.0 of the SDK'],
]

describe('B7: ranking is measured', () => {
  it('puts the marked answers of a small set in two languages first, nine times in ten', async () => {
    const { tell, search } = recalling(db)
    await tell(...SET.map(([, content]) => ({ content })))
    let sum = 0
    for (const [question, answer] of SET) {
      const hits = await search(question, { k: 10 })
      const place = hits.findIndex(({ text }: { text: string }) => text === answer)
      sum += place === -1 ? 0 : 1 / (place + 1)
    }
    assert.ok(sum / SET.length >= 0.9, `MRR@10 is ${(sum / SET.length).toFixed(2)}`)
  })
})
