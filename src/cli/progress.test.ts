import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { createProgress } from './progress.ts'

function watched(isTTY: boolean) {
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80 })
  const stdin = new PassThrough()
  const signal = new AbortController().signal
  const io = { env: {}, cwd: '/', home: '/', stdin, stdout: new PassThrough(), stderr, signal }
  return { progress: createProgress(io), text: () => String(stderr.read() ?? '') }
}

describe('progress', () => {
  it('is a line for each tenth where there is no terminal', () => {
    const { progress, text } = watched(false)
    for (let done = 0; done <= 1000; done++) progress.update('documents', done, 1000)
    progress.stop()
    const lines = text().trimEnd().split('\n')
    assert.equal(lines.length, 11)
    assert.deepEqual([lines[0], lines[10]], ['documents: 0 of 1000', 'documents: 1000 of 1000'])
  })

  it('counts on without a total', () => {
    const { progress, text } = watched(false)
    for (let done = 0; done < 1200; done++) progress.update('commits', done, undefined)
    progress.stop()
    assert.equal(text(), 'commits: 0\ncommits: 500\ncommits: 1000\n')
  })

  it('is a bar on a terminal, ended so that the answer begins on a line of its own', () => {
    const { progress, text } = watched(true)
    progress.update('commits', 3, undefined)
    progress.update('snapshots', 0, 4)
    progress.update('snapshots', 4, 4)
    progress.stop()
    const shown = text()
    assert.match(shown, /commits 3/)
    assert.match(shown, /snapshots █+ 4\/4/)
    assert.ok(shown.endsWith('\n') || shown.endsWith('\u001b[?25h'))
  })
})
