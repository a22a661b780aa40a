import cliProgress from 'cli-progress'
import { isLively } from './io.ts'
import type { Io } from './io.ts'

/** How far a long piece of work is, for the person who waits for it. */
export interface Progress {
  /** `total` is undefined while it is not known. */
  update: (label: string, done: number, total: number | undefined) => void
  stop: () => void
}

/** A bar that moves on a terminal, a line now and then elsewhere; on stderr, so that answers stay clean. */
export function createProgress(io: Io): Progress {
  return isLively(io.stderr, io.env) ? movingBar(io) : plainLines(io)
}

function movingBar({ stderr }: Io): Progress {
  let bar: cliProgress.SingleBar | undefined
  let shown = ''
  const stop = () => {
    bar?.stop()
    bar = undefined
  }
  return {
    update(label, done, total) {
      const phase = `${label} ${total === undefined}`
      if (bar === undefined || phase !== shown) {
        stop()
        shown = phase
        const format =
          total === undefined
            ? `${label} {value}`
            : `${label} {bar} {value}/{total} | {duration_formatted} | ETA {eta_formatted}`
        bar = new cliProgress.SingleBar(
          { format, stream: stderr, hideCursor: true, gracefulExit: false },
          cliProgress.Presets.shades_classic,
        )
        bar.start(total ?? 0, done)
      }
      if (total !== undefined) bar.setTotal(total)
      bar.update(done)
    },
    stop,
  }
}

const TENTHS = 10
const UNKNOWN_STEP = 500

function plainLines({ stderr }: Io): Progress {
  let told = ''
  return {
    update(label, done, total) {
      const step =
        total === undefined || total === 0
          ? Math.floor(done / UNKNOWN_STEP)
          : Math.floor((done / total) * TENTHS)
      if (told === `${label} ${step}`) return
      told = `${label} ${step}`
      stderr.write(`${label}: ${done}${total === undefined ? '' : ` of ${total}`}\n`)
    },
    stop: () => undefined,
  }
}
