// Time drand's own client verifying beacons that it need not fetch: node bench.mjs BEACONS.json INFO.json COUNT
import { readFileSync } from "node:fs"
import * as drand from "drand-client"

const [beacons, info] = process.argv.slice(2, 4).map((path) => JSON.parse(readFileSync(path, "utf8")))
const some = beacons.slice(0, Number(process.argv[4]))
const byRound = new Map(some.map(({ round, signature, randomness }) => [round, { round, signature, randomness }]))
const options = { disableBeaconVerification: false, noCache: false }
const client = { options, get: async (round) => byRound.get(round), chain: () => ({ info: async () => info }) }

for (const { round } of some.slice(0, 5)) await drand.fetchBeacon(client, round) // let the compiler warm up
const started = process.hrtime.bigint()
for (const { round } of some) await drand.fetchBeacon(client, round)
console.log(Number(process.hrtime.bigint() - started) / 1000 / some.length)
