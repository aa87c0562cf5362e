"""Check own.json with nothing but the standard library: python check.py own.json"""
import base64, hashlib, itertools, json, sys
head = lambda kind, n: bytes([kind * 32 + n] if n < 24 else [kind * 32 + 24, n] if n < 256 else [kind * 32 + 25, n >> 8, n % 256])
string = lambda data, kind=3: head(kind, len(data)) + data
def block(case, c):
    game, uri, purpose = (string(case[name].encode()) for name in ("game", "uri", "purpose"))
    link = b"\xd8\x2a\x58\x25\0" + base64.b32decode(case["cid"][1:].upper() + "======")
    return b"\x87\x73weighbridge/dice/v1\x58\x20" + hashlib.sha256(bytes.fromhex(case["signature"])).digest() + game + uri + link + purpose + head(0, c)
def die(stream, n):
    width = next(w for w in range(1, 9) if 256**w >= n)
    value = int.from_bytes(itertools.islice(stream, width), "big")
    return 1 + value % n if value < n * (256**width // n) else die(stream, n)
def draw(stream, ask, of):
    if ask == "die": return die(stream, int(of))
    if ask == "named": return {name: die(stream, of[1]) for name in sorted(of[0])}
    order = list(range(of)) if ask == "shuffle" else []
    for i in range(len(order) - 1, 0, -1): j = die(stream, i + 1) - 1; order[i], order[j] = order[j], order[i]
    if ask == "shuffle": return order
    face = die(stream, ends[-1]) if (ends := list(itertools.accumulate(of if ask == "weighted" else [1] * of)))[-1] > 1 else 1
    return next(i for i, end in enumerate(ends) if face <= end)
def check(case):
    blocks = [hashlib.sha256(block(case, c)).digest() for c in range(len(case["blocks"]))]
    stream, same = iter(b"".join(blocks)), [b.hex() for b in blocks] == case["blocks"]
    return same and all(str(draw(stream, d["ask"], d["of"])) == str(d["is"]) for d in case["draws"])
print(all(map(check, json.load(open(sys.argv[1], encoding="utf-8"))["cases"])))
