// Check own.json with nothing but node's standard library.
const { createHash } = require("crypto"), sha = (b) => createHash("sha256").update(b).digest()
const head = (k, n) => Buffer.from(n < 24 ? [(k << 5) | n] : n < 256 ? [(k << 5) | 24, n] : [(k << 5) | 25, n >> 8, n & 255])
const text = (s) => Buffer.concat([head(3, Buffer.byteLength(s)), Buffer.from(s)])
const bits = (s) => [...s].map((c) => "abcdefghijklmnopqrstuvwxyz234567".indexOf(c).toString(2).padStart(5, "0")).join("")
const link = (cid) => Buffer.from([0xd8, 0x2a, 0x58, 37, 0, ...bits(cid.slice(1)).match(/.{8}/g).map((b) => parseInt(b, 2))])
const block = (c, n) => Buffer.concat([head(4, 7), text("weighbridge/dice/v1"), head(2, 32), sha(Buffer.from(c.signature, "hex")),
  text(c.game), text(c.uri), link(c.cid), text(c.purpose), head(0, n)])
function check(c) {
  const blocks = c.blocks.map((_, n) => sha(block(c, n))), stream = Buffer.concat(blocks)
  if (block(c, 0).toString("hex") !== c.hashed || blocks.some((b, n) => b.toString("hex") !== c.blocks[n])) return false
  let at = 0
  const die = (sides) => {
    let [n, w] = [BigInt(sides), 1]
    while (256n ** BigInt(w) < n) w++
    const v = BigInt("0x" + stream.subarray(at, (at += w)).toString("hex"))
    return v < n * (256n ** BigInt(w) / n) ? 1n + (v % n) : die(n)
  }
  const shuffle = (a) => { for (let i = a.length - 1; i > 0; i--) { const j = Number(die(i + 1)) - 1; [a[i], a[j]] = [a[j], a[i]] } return a }
  const pick = (n) => (n > 1 ? die(n) - 1n : 0n), weighted = (ws) => { let v = pick(ws.reduce((a, b) => a + b, 0)); return ws.findIndex((w) => (v -= BigInt(w)) < 0n) }
  const ask = { die, pick, weighted, named: ([names, n]) => Object.fromEntries([...names].sort().map((k) => [k, die(n)])), shuffle: (n) => shuffle([...Array(n).keys()]) }
  const plain = (v) => (typeof v === "object" ? Object.keys(v).sort().map((k) => k + "=" + v[k]).join() : String(v))
  return c.draws.every((d) => plain(ask[d.ask](d.of)) === plain(d.is))
}
console.log(JSON.parse(require("fs").readFileSync(process.argv[2])).cases.every(check))
