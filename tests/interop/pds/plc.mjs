// A PLC directory in memory, on loopback: node plc.mjs PORT. It outlives the PDS that is killed in a test.
import './loopback.mjs'
import { createRequire } from 'node:module'

const server = createRequire(import.meta.url)('@did-plc/server')
const plc = server.PlcServer.create({ db: server.Database.mock(), port: Number(process.argv[2]) })
await plc.start()
console.log(JSON.stringify({ ready: true }))
process.on('SIGTERM', async () => {
  await plc.destroy()
  process.exit(0)
})
