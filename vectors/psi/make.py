"""Writes the exchanges that crates/privet-mpc/tests/all/psi/vectors.rs repeats byte for byte.

Nothing is shared with the library: ristretto255 follows RFC 9496 in affine coordinates, hashing RFC 9380, messages their
description. Needs nothing but Python. Run it in this folder: `python make.py`. The output is committed.
"""

import hashlib
import json

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1
DOMAIN = b"privet-psi-v1-with-ristretto255_XMD:SHA-512_R255MAP_RO_"


def negative(x):
    return x % P % 2 == 1


def absolute(x):
    return -x % P if negative(x) else x % P


def sqrt_ratio(u, v):
    """RFC 9496, 4.2: whether u/v is a square, and the root of u/v or of i u/v that is not negative."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    if check in (-u % P, -u * ROOT % P):
        r = r * ROOT
    return check in (u % P, -u % P), absolute(r)


INVSQRT_A_D = sqrt_ratio(1, -1 - D)[1]
SQRT_AD_1 = 25063068953384623474111414158702152701244531502492656460079210482610430750235
assert SQRT_AD_1 * SQRT_AD_1 % P == (-D - 1) % P


def add(p, q):
    """Affine addition on the twisted Edwards curve with a = -1."""
    (x, y), (v, w) = p, q
    t = D * x * y * v * w % P
    return (x * w + y * v) * pow(1 + t, -1, P) % P, (y * w + x * v) * pow(1 - t, -1, P) % P


def times(n, p):
    q = (0, 1)
    for bit in bin(n)[2:]:
        q = add(q, q)
        q = add(q, p) if bit == "1" else q
    return q


def encode(p):
    """RFC 9496, 4.3.2."""
    x, y = p
    z, t = 1, x * y % P
    u1, u2 = (z + y) * (z - y) % P, x * y % P
    inverse = sqrt_ratio(1, u1 * u2 * u2)[1]
    d1, d2 = inverse * u1 % P, inverse * u2 % P
    zinv = d1 * d2 * t % P
    if negative(t * zinv):
        x, y, dinv = y * ROOT % P, x * ROOT % P, d1 * INVSQRT_A_D % P
    else:
        dinv = d2
    y = -y if negative(x * zinv) else y
    return absolute(dinv * (z - y)).to_bytes(32, "little")


def decode(data):
    """RFC 9496, 4.3.1."""
    s = int.from_bytes(data, "little")
    assert s < P and not negative(s)
    u1, u2 = (1 - s * s) % P, (1 + s * s) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    square, inverse = sqrt_ratio(1, v * u2 * u2)
    dx = inverse * u2 % P
    x, y = absolute(2 * s * dx), u1 * inverse * dx * v % P
    assert square and not negative(x * y) and y != 0
    return x, y


def map_to_curve(t):
    """RFC 9496, 4.3.4: MAP."""
    r = ROOT * t * t % P
    u = (r + 1) * (1 - D * D) % P
    v = (-1 - r * D) * (r + D) % P
    square, s = sqrt_ratio(u, v)
    c = -1
    if not square:
        s, c = -absolute(s * t) % P, r
    n = (c * (r - 1) * (D - 1) ** 2 - v) % P
    w0, w1, w2, w3 = 2 * s * v, n * SQRT_AD_1, 1 - s * s, 1 + s * s
    return w0 * pow(w1, -1, P) % P, w2 * pow(w3, -1, P) % P


def expand_message_xmd(message, domain):
    """RFC 9380, 5.3.1, with SHA-512 to 64 bytes: one block."""
    suffix = domain + bytes([len(domain)])
    first = hashlib.sha512(bytes(128) + message + (64).to_bytes(2, "big") + b"\0" + suffix).digest()
    return hashlib.sha512(first + b"\1" + suffix).digest()


def hash_to_group(message, domain=DOMAIN):
    uniform = expand_message_xmd(message, domain)
    low = [int.from_bytes(half, "little") % 2**255 for half in (uniform[:32], uniform[32:])]
    return add(map_to_curve(low[0]), map_to_curve(low[1]))


ORDER = 2**252 + 27742317777372353535851937790883648493
assert encode(times(2, decode(encode((0, 1))))) == bytes(32)
assert encode(times(ORDER, hash_to_group(b"x"))) == bytes(32)
# RFC 9497, A.1.1
BLIND = int.from_bytes(bytes.fromhex("64d37aed22a27f5191de1c1d69fadb899d8862b58eb4220029e036ec4c1f6706"), "little")
BLINDED = encode(times(BLIND, hash_to_group(b"\0", b"HashToGroup-OPRFV1-\0-ristretto255-SHA512")))
assert BLINDED.hex() == "609a0ae68c15a3cf6903766461307e5c8bb2f95e7e6550e1ffa2dc99e412803c", BLINDED.hex()


def exponent(key, run, role, ids, before):
    digest = hashlib.sha256(b"".join(len(x).to_bytes(8, "little") + x for x in ids)).digest()
    wide = hashlib.sha512(b"privet-psi-v1-exponent" + bytes([role]) + run + key + digest + before).digest()
    return int.from_bytes(wide, "little") % ORDER


def number(n):
    return n.to_bytes(4, "little")


def message(kind, run, body, before):
    rest = b"privpsi" + bytes([1, kind]) + run + body
    return rest + hashlib.sha256(before + rest).digest()


def exchange(run, keys, bank, shop):
    a = exponent(keys[0], run, 1, bank, bytes(32))
    masked = {encode(times(2 * a, hash_to_group(x))): row for row, x in enumerate(bank)}
    points = sorted(masked)
    offer = message(1, run, number(len(points)) + b"".join(points), bytes(32))
    b = exponent(keys[1], run, 2, shop, offer[-32:])
    tags = [encode(times(2 * b, decode(point)))[:16] for point in points]
    theirs = {encode(times(2 * b, hash_to_group(y))): row for row, y in enumerate(shop)}
    own = sorted(theirs)
    body = number(len(own)) + b"".join(own) + number(len(tags)) + b"".join(tags)
    answer = message(2, run, body, offer[-32:])
    places = {encode(times(2 * a, decode(point)))[:16]: place for place, point in enumerate(own)}
    common = sorted(set(tags) & set(places), key=lambda tag: int.from_bytes(tag, "little"))
    rows = [masked[points[tags.index(tag)]] for tag in common]
    body = number(len(common)) + b"".join(number(places[tag]) for tag in common)
    told = message(3, run, body, answer[-32:])
    their_rows = [theirs[own[places[tag]]] for tag in common]
    assert [bank[row] for row in rows] == [shop[row] for row in their_rows]
    return {
        "run": run.hex(),
        "label_holder": {"key": keys[0].hex(), "ids": [x.hex() for x in bank], "rows": rows},
        "feature_holder": {"key": keys[1].hex(), "ids": [y.hex() for y in shop], "rows": their_rows},
        "offer": offer.hex(),
        "answer": answer.hex(),
        "common": told.hex(),
    }


def people(*numbers):
    return [f"person {n}".encode() for n in numbers]


if __name__ == "__main__":
    run, keys = bytes(range(32)), [bytes([1] * 32), bytes([2] * 32)]
    rows = [
        exchange(run, keys, [], []),
        exchange(run, keys, people(1), []),
        exchange(run, keys, people(5, 3, 1, 4), people(2, 4, 6, 3, 5)),
        exchange(bytes([255] * 32), keys[::-1], [b"\0", b"\0\0", bytes(range(256))], [b"\0\0", b"\xff", b"\0"]),
    ]
    with open("transcript.json", "w") as out:
        out.write('{\n"made_with": "python, by RFC 9496 and RFC 9380",\n')
        out.write('"note": "whole exchanges of version 1",\n"rows": [\n')
        out.write(",\n".join(json.dumps(row) for row in rows))
        out.write("\n]}\n")
