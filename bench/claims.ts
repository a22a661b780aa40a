// What claiming and finishing work costs, beside four peers, and what it depends on.
//   npm run bench:install        once, for the peers
//   npm run bench:claims -- [--quick] [--rounds N] [--size N] [--json FILE]
//                           [peers] [loop] [start] [growth] [heartbeats]
// --size says how many tasks have been finished before the claims of the last part.
import { growth } from './claims/growth.ts'
import { guarantees } from './claims/guarantees.ts'
import { heartbeats } from './claims/heartbeats.ts'
import { loop } from './claims/loop.ts'
import { start } from './claims/start.ts'
import { batches, startContenders, throughput } from './claims/throughput.ts'
import { readArgs } from './kit/args.ts'
import { describeSetting } from './kit/machine.ts'
import { createReport } from './kit/report.ts'
import { startBenchServer } from './kit/server.ts'
import { arePeersInstalled } from './peers/installed.ts'

const PARTS = ['peers', 'loop', 'start', 'growth', 'heartbeats']
const args = readArgs(PARTS, { size: 1_000_000, quick: 2000 })
await using server = await startBenchServer({ anywhere: args.quick })
const report = createReport(args, await describeSetting(server.admin))
const wanted = (part: string) => args.only.length === 0 || args.only.includes(part)
const options = { ...args, peers: arePeersInstalled() && !args.quick }
if (!options.peers)
  report.progress('without peers, which need npm run bench:install and no --quick')
if (wanted('peers') || wanted('start')) {
  const contenders = await startContenders(server, options)
  if (wanted('peers')) {
    await throughput(server, report, contenders, options)
    await batches(server, report, contenders, options)
    report.table(guarantees())
  }
  if (wanted('start')) await start(report, contenders, args)
  for (const contender of contenders.values()) await contender[Symbol.asyncDispose]()
}
if (wanted('loop')) await loop(server, report, args)
if (wanted('heartbeats')) await heartbeats(server, report, args)
if (wanted('growth')) await growth(server, report, args)
report.finish()
