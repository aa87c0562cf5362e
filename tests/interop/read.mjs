// Read a relay with drand's own client and print what it verified: node read.mjs URL HASH KEY ROUND...
import * as drand from "drand-client"

const [url, chainHash, publicKey, ...rounds] = process.argv.slice(2)
const { HttpCachingChain, HttpChainClient, MultiBeaconNode, fetchBeacon, roundAt } = drand
const options = { disableBeaconVerification: false, noCache: false, chainVerificationParams: { chainHash, publicKey } }
const client = new HttpChainClient(new HttpCachingChain(`${url}/${chainHash}`, options), options)

const chains = await new MultiBeaconNode(url, options).chains()
const told = { info: await client.chain().info(), chains: chains.map((chain) => chain.baseUrl), beacons: [], refused: [] }
for (const round of rounds) {
  try {
    told.beacons.push(await fetchBeacon(client, Number(round)))
  } catch (error) {
    told.refused.push([Number(round), error.message])
  }
}
told.newest = await fetchBeacon(client)
told.expected = roundAt(Date.now(), told.info)
console.log(JSON.stringify(told))
