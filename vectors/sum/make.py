"""Writes the rounds that crates/privet-mpc/tests/all/sum/vectors.rs repeats byte for byte.

Nothing is shared with the library: X25519, HKDF and AES-GCM are those of the PyPI package `cryptography` (OpenSSL), and polynomials are
interpolated with Python's integers, one Lagrange product at a time. Run it in this folder: `pip install cryptography && python make.py`.
The output is committed.
"""

import hashlib
import json
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

P = 2**61 - 1


def secret(name):
    return hashlib.sha256(name.encode()).digest()


def key(salt, shared, info):
    return HKDF(algorithm=hashes.SHA256(), length=16, salt=salt, info=info).derive(shared)


def nonce(number):
    return b"\x00" * 4 + struct.pack("<Q", number)


def words(seed, owner, round, numbers):
    """Uniform numbers below P: 61 bits of each word of AES in counter mode, 64 words for each nonce."""
    digest = hashlib.sha256(b"".join(struct.pack("<Q", number % P) for number in numbers)).digest()
    cipher = AESGCM(key(None, seed, b"privet sum 1" + struct.pack("<HI", owner, round) + digest))
    block = 0
    while True:
        for (word,) in struct.iter_unpack("<Q", cipher.encrypt(nonce(block), b"\x00" * 512, None)[:-16]):
            if word & P != P:
                yield word & P
        block += 1


def value(nodes, at):
    total = 0
    for x, y in nodes.items():
        product = y
        for other in nodes:
            if other != x:
                product = product * (at - other) * pow(x - other, -1, P) % P
        total += product
    return total % P


def shape(owners, absent, colluding, length):
    """The first so many owners hold shares; pieces, numbers in each, random values: of all that open, with the fewest bytes."""
    best = None
    for holders in range(colluding + 1, owners + 1):
        honest, answering = owners - colluding, holders - colluding
        hidden = max(answering // 2, 2 * absent * answering // honest)
        if absent == 0:
            hidden = 0
        elif (absent, answering, honest) == (1, 3, 3):
            hidden = 1
        most = answering - absent - hidden
        if most > 0:
            pieces = -(-length // most)
            size = (holders * (8 * pieces + 16), pieces)
            if best is None or size < best[0]:
                best = (size, (holders, pieces, -(-length // pieces), colluding + hidden))
    return best[1]


def make(name, owners, absent, colluding, length, round, gone):
    holders, pieces, packed, random = shape(owners, absent, colluding, length)
    agreement = secret(f"{name} agreement")
    numbers = [7 * owner + 3 for owner in range(owners)]  # in the agreement
    secrets = [X25519PrivateKey.from_private_bytes(secret(f"{name} owner {owner}")) for owner in range(owners)]
    publics = [one.public_key().public_bytes_raw() for one in secrets]
    vectors = [
        [int.from_bytes(secret(f"{name} {owner} {at}")[:8], "little", signed=True) >> (3 * at) for at in range(length)]
        for owner in range(owners)
    ]

    def envelope(sender, receiver, message):
        info = b"privet sealed 1" + struct.pack("<HH", numbers[sender], numbers[receiver])
        shared = secrets[sender].exchange(secrets[receiver].public_key())
        cipher = AESGCM(key(agreement, shared, info + publics[sender] + publics[receiver]))
        return cipher.encrypt(nonce(round), message, None)

    shares, envelopes, parties = [], [], []
    for owner, vector in enumerate(vectors):
        stream = words(secret(f"{name} seed {owner}"), owner, round, vector)
        rows = []
        for piece in range(pieces):
            part = vector[piece * packed : (piece + 1) * packed]
            nodes = {P - 1 - at: (part[at] if at < len(part) else 0) % P for at in range(packed)}
            nodes |= {other + 1: next(stream) for other in range(random)}
            rows.append([value(nodes, other + 1) for other in range(holders)])
        shares.append([[row[other] for row in rows] for other in range(holders)])
        envelopes.append(
            [
                b"" if other == owner else envelope(owner, other, struct.pack(f"<{pieces}Q", *shares[owner][other]))
                for other in range(holders)
            ]
        )
        parties.append(
            {
                "number": numbers[owner],
                "secret": secret(f"{name} owner {owner}").hex(),
                "seed": secret(f"{name} seed {owner}").hex(),
                "numbers": [str(number) for number in vector],
                "shares": (struct.pack("<BI", 0x21, round) + b"".join(envelopes[owner])).hex(),
                "absent": owner in gone,
                "relayed": None,
                "answer": None,
            }
        )

    survivors = [owner for owner in range(owners) if owner not in gone]
    bits = sum(1 << owner for owner in survivors).to_bytes(-(-owners // 8), "little")
    for to in (owner for owner in survivors if owner < holders):
        relayed = struct.pack("<BI", 0x22, round) + bits + b"".join(envelopes[owner][to] for owner in survivors)
        answer = [sum(shares[owner][to][piece] for owner in survivors) % P for piece in range(pieces)]
        parties[to]["relayed"] = relayed.hex()
        parties[to]["answer"] = struct.pack(f"<BI{pieces}Q", 0x23, round, *answer).hex()
    sums = [sum(vectors[owner][at] for owner in survivors) % P for at in range(length)]
    return {
        "owners": owners,
        "absent": absent,
        "colluding": colluding,
        "length": length,
        "holders": holders,
        "pieces": pieces,
        "required": packed + random,
        "round": round,
        "agreement": agreement.hex(),
        "parties": parties,
        "sum": [str(number - P if number > P // 2 else number) for number in sums],
    }


rounds = [
    make("one", 3, 0, 1, 1, 0, []),
    make("two", 4, 1, 1, 2, 1, [2]),
    make("three", 9, 1, 2, 5, 299, [0]),
    make("four", 10, 2, 1, 3, 2**32 - 2, [4, 9]),
    make("five", 12, 2, 1, 2, 17, [3, 10]),
]
with open("rounds.json", "w") as out:
    json.dump({"rounds": rounds}, out, indent=1)
    out.write("\n")
