// A PDS on loopback: node pds.mjs PORT PLC_PORT FOLDER. One JSON line on stdout when it is ready, and one for each
// command on stdin: {"cmd": "rotate", "did": …} publishes a new key while the PDS goes on signing with the old one;
// {"cmd": "rotate", "did": …, "key": "did:key:…"} publishes that one.
import './loopback.mjs'
import readline from 'node:readline'
import path from 'node:path'
import { createRequire } from 'node:module'

process.env.LOG_ENABLED ??= 'false'
const require = createRequire(import.meta.url)
const { PDS, envToCfg, envToSecrets } = require('@atproto/pds')
const { Secp256k1Keypair } = require('@atproto/crypto')

const [port, plcPort, folder] = process.argv.slice(2)
const fixed = (byte) => Buffer.alloc(32, byte).toString('hex')
const recovery = await Secp256k1Keypair.import(fixed(2))
const settings = {
  devMode: true,
  port: Number(port),
  hostname: 'localhost',
  dataDirectory: folder,
  blobstoreDiskLocation: path.join(folder, 'blobs'),
  didPlcUrl: `http://127.0.0.1:${plcPort}`,
  recoveryDidKey: recovery.did(),
  plcRotationKeyK256PrivateKeyHex: fixed(1),
  jwtSecret: 'for-tests-only',
  adminPassword: 'for-tests-only',
  serviceHandleDomains: ['.test'],
  inviteRequired: false,
  disableSsrfProtection: true,
  rateLimitsEnabled: false,
  crawlers: [],
  bskyAppViewUrl: 'https://appview.invalid',
  bskyAppViewDid: 'did:example:invalid',
  modServiceUrl: 'https://moderator.invalid',
  modServiceDid: 'did:example:invalid',
}
if (process.env.PDS_BACKFILL_MS) settings.repoBackfillLimitMs = Number(process.env.PDS_BACKFILL_MS)
if (process.env.PDS_MAX_SUB_BUFFER) settings.maxSubscriptionBuffer = Number(process.env.PDS_MAX_SUB_BUFFER)

const pds = await PDS.create(envToCfg(settings), envToSecrets(settings))
await pds.start()
console.log(JSON.stringify({ ready: true }))
process.on('SIGTERM', async () => {
  await pds.destroy()
  process.exit(0)
})

const own = {} // the keys that were published, by DID
readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  try {
    const { did, key } = JSON.parse(line)
    const fresh = key ?? (await Secp256k1Keypair.create()).did()
    own[did] ??= (await pds.ctx.actorStore.keypair(did)).did()
    await pds.ctx.plcClient.updateAtprotoKey(did, pds.ctx.plcRotationKey, fresh)
    await pds.ctx.sequencer.sequenceIdentityEvt(did)
    console.log(JSON.stringify({ key: fresh, own: own[did] }))
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }))
  }
})
