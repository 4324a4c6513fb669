"""Writes the exchanges that crates/privet-mpc/tests/all/garble/vectors.rs repeats byte for byte.

Nothing is shared with the library: ristretto255 follows RFC 9496 in affine coordinates, AES is that of the PyPI package `cryptography` (OpenSSL),
labels are Python's integers, and circuits and messages follow docs/protocols/garbling.md. Run it in this folder:
`pip install cryptography && python make.py`. The output is committed.
"""

import hashlib
import json

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1
ORDER = 2**252 + 27742317777372353535851937790883648493


def absolute(x):
    return -x % P if x % P % 2 else x % P


def sqrt_ratio(u, v):
    """RFC 9496, 4.2."""
    r = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    check = v * r * r % P
    if check in (-u % P, -u * ROOT % P):
        r = r * ROOT
    return check in (u % P, -u % P), absolute(r)


INVSQRT_A_D = sqrt_ratio(1, -1 - D)[1]


def add(p, q):
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
    t = x * y % P
    u1, u2 = (1 + y) * (1 - y) % P, x * y % P
    inverse = sqrt_ratio(1, u1 * u2 * u2)[1]
    d1, d2 = inverse * u1 % P, inverse * u2 % P
    zinv = d1 * d2 * t % P
    if t * zinv % P % 2:
        x, y, dinv = y * ROOT % P, x * ROOT % P, d1 * INVSQRT_A_D % P
    else:
        dinv = d2
    y = -y if x * zinv % P % 2 else y
    return absolute(dinv * (1 - y)).to_bytes(32, "little")


def decode(data):
    """RFC 9496, 4.3.1."""
    s = int.from_bytes(data, "little")
    assert s < P and s % 2 == 0
    u1, u2 = (1 - s * s) % P, (1 + s * s) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    square, inverse = sqrt_ratio(1, v * u2 * u2)
    dx = inverse * u2 % P
    x, y = absolute(2 * s * dx), u1 * inverse * dx * v % P
    assert square and x * y % P % 2 == 0 and y != 0
    return x, y


BASE = decode(bytes.fromhex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"))


def derive(what, secret, *more):
    parts = [what.encode(), secret, *more]
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).digest()


def number(n):
    return n.to_bytes(4, "little")


def aes(key, block):
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def head(kind, circuit, part, exchange):
    return bytes([kind]) + number(circuit) + number(part) + exchange[:8]


def pack(bits):
    value = sum(bit << at for at, bit in enumerate(bits))
    return value.to_bytes((len(bits) + 7) // 8, "little")


def scalar(seed, start, what, at, offer=b""):
    wide = hashlib.sha512(b"privet transfer 1 exponent" + derive(what, seed, start, number(at) + offer)).digest()
    return int.from_bytes(wide, "little") % ORDER


def set_up(agreement, evaluator, garbler):
    start = derive("privet transfer 1", agreement)
    a = scalar(evaluator, start, "offer", 0)
    point = times(a, BASE)
    offer = encode(point)
    choices = int.from_bytes(derive("privet transfer 1 choices", garbler, start, offer)[:16], "little")
    points, shared = [], []
    for at in range(128):
        b = scalar(garbler, start, "answer", at, offer)
        sent = times(2 * b, BASE)
        sent = add(sent, add(point, point)) if choices >> at & 1 else sent
        points.append(encode(sent))
        shared.append(encode(times(2 * b, point)))
    body = b"".join(points)
    run = derive("privet transfer 1 run", start, offer, body)

    def key(at, secret):
        return derive("privet transfer 1 key", secret, run, number(at))[:16]

    sender = [key(at, secret) for at, secret in enumerate(shared)]
    doubled = add(point, point)
    opposite = (-doubled[0] % P, doubled[1])
    receiver = []
    for at, sent in enumerate(points):
        sent = decode(sent)
        receiver.append([key(at, encode(times(a, one))) for one in (sent, add(sent, opposite))])
        assert sender[at] == receiver[at][choices >> at & 1]
    answer = head(0x15, 0, 0, derive("privet transfer 1 answer", start, offer)) + body
    return run, choices, sender, receiver, head(0x14, 0, 0, start) + offer, answer


class Walk:
    """A walk through a circuit. Wires are labels; None is a zero that everybody knows."""

    def __init__(self, key, delta=None, tables=None):
        self.key, self.delta, self.tables, self.gate = key, delta, tables if tables is not None else [], 0

    def hash(self, x, tweak):
        once = int.from_bytes(aes(self.key, x.to_bytes(16, "little")), "little")
        return once ^ int.from_bytes(aes(self.key, (once ^ tweak).to_bytes(16, "little")), "little")

    def xor(self, *wires):
        wires = [wire for wire in wires if wire is not None]
        value = 0
        for wire in wires:
            value ^= wire
        return value if wires else None

    def invert(self, a):
        return a ^ (self.delta or 0)

    def both(self, a, b):
        if a is None or b is None:
            return None
        j, self.gate = 2 * self.gate, self.gate + 1
        if self.delta is None:
            first, second = self.tables[j // 2]
            return self.hash(a, j) ^ (first if a & 1 else 0) ^ self.hash(b, j + 1) ^ ((second ^ a) if b & 1 else 0)
        a0, a1 = self.hash(a, j), self.hash(a ^ self.delta, j)
        b0, b1 = self.hash(b, j + 1), self.hash(b ^ self.delta, j + 1)
        first = a0 ^ a1 ^ (self.delta if b & 1 else 0)
        second = b0 ^ b1 ^ a
        self.tables.append((first, second))
        return a0 ^ (first if a & 1 else 0) ^ b0 ^ ((second ^ a) if b & 1 else 0)

    def either(self, a, b):
        return self.xor(a, b, self.both(a, b))

    def choose(self, bit, yes, no):
        return self.xor(no, self.both(self.xor(yes, no), bit))

    def plus(self, a, b):
        out, carry = [], None
        for at in range(max(len(a), len(b))):
            x, y = (n[at] if at < len(n) else None for n in (a, b))
            out.append(self.xor(x, y, carry))
            carry = self.xor(self.both(self.xor(x, carry), self.xor(y, carry)), carry)
        return out + [carry]


def orban(on, x, y, places):
    wires = [on.both(a, b) for a, b in zip(x, y)]
    while len(wires) > 1:
        half = len(wires) // 2
        pairs = [(wires[at], wires[half + at]) for at in range(half)]
        both = [on.both(a, b) for a, b in pairs]
        wires = [on.xor(a, b, c) for (a, b), c in zip(pairs, both)] + wires[2 * half :]
    return wires


def addition(on, x, y, bits):
    return on.plus(x, y)


def argmin(on, x, y, candidates, bits):
    def column(values, at, bit):
        return values[at * bits + bit]

    sums = [[None] * bits for _ in range(candidates)]
    whole = candidates // 4 * 4
    for lanes in [list(range(at, at + 4)) for at in range(0, whole, 4)] + [[at] for at in range(whole, candidates)]:
        carry = {lane: None for lane in lanes}
        for bit in range(bits):
            for lane in lanes:
                a, b = column(x, lane, bit), column(y, lane, bit)
                sums[lane][bit] = on.xor(a, b, carry[lane])
                if bit + 1 < bits:
                    carry[lane] = on.xor(on.both(on.xor(a, carry[lane]), on.xor(b, carry[lane])), carry[lane])
    indices = [[] for _ in range(candidates)]
    while len(sums) > 1:
        pairs = len(sums) // 2
        assert pairs < 4
        winners, seconds = [], []
        for pair in range(pairs):
            a, b = sums[2 * pair], sums[2 * pair + 1]
            second = None
            for bit in range(bits):
                second = on.xor(second, on.both(on.xor(a[bit], b[bit]), on.xor(a[bit], second)))
            last = len(sums) == 2
            winners.append([] if last else [on.choose(second, b[bit], a[bit]) for bit in range(bits)])
            seconds.append(second)
        following = []
        for pair, second in enumerate(seconds):
            a, b = indices[2 * pair], indices[2 * pair + 1]
            following.append([on.choose(second, v, u) for u, v in zip(a, b)] + [second])
        if len(sums) % 2:
            winners.append(sums[-1])
            following.append(indices[-1] + [None])
        sums, indices = winners, following
    return indices[0]


def rendezvous(on, x, y, places):
    depth = (places - 1).bit_length()
    tree = [[] for _ in range(2 << depth)]
    for at in range(places):
        tree[(1 << depth) + at] = [on.both(x[at], y[at])]
    for level in reversed(range(depth)):
        for node in range(1 << level, 2 << level):
            total = on.plus(tree[2 * node], tree[2 * node + 1])
            height = depth - level
            leaves = max(0, min(places - ((node << height) - (1 << depth)), 1 << height))
            tree[node] = total[: leaves.bit_length()]
    coins = [on.xor(a, b) for a, b in zip(x[places:], y[places:])]
    product, rest = [], []
    for bit in tree[1]:
        total = on.plus(rest, [on.both(coin, bit) for coin in coins])
        product.append(total[0])
        rest = total[1:]
    chosen = (product + rest)[48:][:depth]
    found = None
    for bit in tree[1]:
        found = on.either(found, bit)
    index = []
    for level in range(depth):
        left_over = depth - level
        difference, borrow = [], None
        left = tree[2]
        for at in range(max(len(chosen), len(left))):
            a, b = (n[at] if at < len(n) else None for n in (chosen, left))
            with_borrow = on.xor(a, borrow)
            difference.append(on.xor(with_borrow, b))
            # A zero that everybody knows, inverted, is a one: the other operand stays.
            other = on.xor(b, borrow)
            step = other if with_borrow is None else on.both(on.invert(with_borrow), other)
            borrow = on.xor(step, borrow)
        right = on.invert(borrow)
        width = max(len(difference), len(chosen))
        get = lambda n, at: n[at] if at < len(n) else None
        chosen = [on.choose(right, get(difference, at), get(chosen, at)) for at in range(width)][: left_over - 1]
        for below in range(1, left_over):
            half = 1 << below
            for at in range(0, half, 2):
                lower, upper = tree[2 * half + at], tree[3 * half + at]
                width = max(len(lower), len(upper))
                tree[half + at] = [on.choose(right, get(upper, k), get(lower, k)) for k in range(width)]
        index.insert(0, right)
    return [found] + index


def stream(key, salt, blocks):
    start = int.from_bytes(salt, "little")
    counters = [((start + at) % 2**128).to_bytes(16, "little") for at in range(blocks)]
    return int.from_bytes(aes(key, b"".join(counters)), "little")


def circuit(keys, circuit_number, name, function, x, y, seeds):
    run, choices, sender, receiver = keys
    begin = derive("privet garble 1", run, number(circuit_number), name.encode())

    def digest(bits):
        return hashlib.sha256(b"privet garble 1 input" + len(bits).to_bytes(8, "little") + pack(bits)).digest()

    salt = derive("privet garble 1 evaluator", seeds[1], begin, digest(y))[:16]
    asked = derive("choices", begin, salt)
    own = derive("privet garble 1 garbler", seeds[0], asked, digest(x))[:16]
    delta = int.from_bytes(derive("privet garble 1 delta", seeds[0], asked, digest(x))[:16], "little") | 1
    both = derive("garbled", asked, own)
    gates, transfers, labels = (derive(what, both)[:16] for what in ("gates", "transfers", "labels"))

    rows, width = len(y), (len(y) + 7) // 8
    blocks = (rows + 127) // 128
    packed = sum(bit << at for at, bit in enumerate(y))
    sent, t, q = [], [], []
    for at, (zero, one) in enumerate(receiver):
        kept = stream(zero, salt, blocks)
        column = (kept ^ stream(one, salt, blocks) ^ packed) % 256**width
        sent.append(column.to_bytes(width, "little"))
        t.append(kept)
        q.append(stream(sender[at], salt, blocks) ^ (column if choices >> at & 1 else 0))
    message = head(0x16, circuit_number, 0, begin) + salt + b"".join(sent)

    def row(columns, j):
        return sum((column >> j & 1) << at for at, column in enumerate(columns))

    hashing = Walk(transfers)
    theirs, evaluators, corrections = [], [], b""
    for j, bit in enumerate(y):
        zero, one = hashing.hash(row(q, j), j), hashing.hash(row(q, j) ^ choices, j)
        correction = zero ^ one ^ delta
        corrections += correction.to_bytes(16, "little")
        theirs.append(zero)
        evaluators.append(hashing.hash(row(t, j), j) ^ (correction if bit else 0))
        assert evaluators[-1] == zero ^ (delta if bit else 0)
    active = [int.from_bytes(aes(labels, at.to_bytes(16, "little")), "little") for at in range(len(x))]
    zeros = [label ^ (delta if bit else 0) for label, bit in zip(active, x)]
    garbler = Walk(gates, delta)
    out = function(garbler, zeros, theirs)
    evaluator = Walk(gates, None, garbler.tables)
    came = function(evaluator, active, evaluators)
    bits = [(one ^ other) & 1 for one, other in zip(out, came)]
    assert all(one ^ other in (0, delta) for one, other in zip(out, came))
    tables = b"".join(first.to_bytes(16, "little") + second.to_bytes(16, "little") for first, second in garbler.tables)
    garbled = head(0x17, circuit_number, 0, asked) + own + corrections + tables + pack([wire & 1 for wire in out])
    outcome = head(0x18, circuit_number, 0, both) + pack(bits)
    return {
        "name": name,
        "number": circuit_number,
        "ands": len(garbler.tables),
        "seeds": [seed.hex() for seed in seeds],
        "garbler": "".join(map(str, x)),
        "evaluator": "".join(map(str, y)),
        "choices": message.hex(),
        "garbled": garbled.hex(),
        "outcome": outcome.hex(),
        "output": "".join(map(str, bits)),
    }


def bits_of(name, count):
    value = int.from_bytes(hashlib.shake_256(name.encode()).digest(count // 8 + 1), "little")
    return [value >> at & 1 for at in range(count)]


def main():
    agreement, seeds = hashlib.sha256(b"agreement").digest(), [hashlib.sha256(who).digest() for who in (b"e", b"g")]
    run, choices, sender, receiver, offer, answer = set_up(agreement, *seeds)
    keys = run, choices, sender, receiver
    circuits = [
        ("orban 1 11", lambda on, x, y: orban(on, x, y, 11), 11),
        ("sum 1 9", lambda on, x, y: addition(on, x, y, 9), 9),
        ("argmin 1 6 3", lambda on, x, y: argmin(on, x, y, 6, 3), 18),
        ("rendezvous 1 5", lambda on, x, y: rendezvous(on, x, y, 5), 53),
        ("orban 1 200", lambda on, x, y: orban(on, x, y, 200), 200),
    ]
    made = []
    for at, (name, function, count) in enumerate(circuits):
        x, y = bits_of(f"{name} x", count), bits_of(f"{name} y", count)
        pair = [hashlib.sha256(f"{name} {who}".encode()).digest() for who in "ge"]
        made.append(circuit(keys, 3 * at, name, function, x, y, pair))
    x, y = made[1]["garbler"], made[1]["evaluator"]
    assert int(made[1]["output"][::-1], 2) == int(x[::-1], 2) + int(y[::-1], 2)
    with open("exchanges.json", "w") as file:
        whole = {
            "agreement": agreement.hex(),
            "seeds": [seed.hex() for seed in seeds],
            "offer": offer.hex(),
            "answer": answer.hex(),
            "circuits": made,
        }
        json.dump(whole, file, indent=1)
        file.write("\n")


main()
