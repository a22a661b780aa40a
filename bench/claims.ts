// What claiming and finishing work costs, beside four peers, and what it depends on.
//   npm run bench:install        once, for the peers
//   npm run bench:claims -- [--quick] [--json FILE] [peers] [loop] [start] [growth] [heartbeats]
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
const args = readArgs(PARTS)
await using server = await startBenchServer()
const report = createReport(args, await describeSetting(server.admin))
const wanted = (part: string) => args.only.length === 0 || args.only.includes(part)
const options = { quick: args.quick, peers: arePeersInstalled() }
if (!options.peers) report.progress('without peers: npm run bench:install')
if (wanted('peers') || wanted('start')) {
  const contenders = await startContenders(server, options)
  if (wanted('peers')) {
    await throughput(server, report, contenders, options)
    await batches(server, report, contenders, options)
    report.table(guarantees())
  }
  if (wanted('start')) await start(report, contenders, options)
  for (const contender of contenders.values()) await contender[Symbol.asyncDispose]()
}
if (wanted('loop')) await loop(server, report, options)
if (wanted('heartbeats')) await heartbeats(server, report, options)
if (wanted('growth')) await growth(server, report, options)
report.finish()
