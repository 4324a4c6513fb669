"""Writes the envelopes that crates/privet-mpc/tests/all/sealed.rs repeats byte for byte.

Nothing is shared with the library: X25519, HKDF and AES-GCM are those of the PyPI package `cryptography` (OpenSSL). Run it in this
folder: `pip install cryptography && python make.py`. The output is committed.
"""

import hashlib
import json
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF


def secret(name):
    return hashlib.sha256(name.encode()).digest()


def key(salt, shared, info):
    return HKDF(algorithm=hashes.SHA256(), length=16, salt=salt, info=info).derive(shared)


rows = []
for place, (sender, receiver, round, message) in enumerate(
    [(1, 2, 0, b""), (2, 1, 0, b"a share"), (0, 9999, 299, bytes(range(100))), (7, 3, 2**64 - 2, b"\x00" * 8)]
):
    agreement = secret(f"agreement {place}")
    own, other = (X25519PrivateKey.from_private_bytes(secret(f"party {n}")) for n in (sender, receiver))
    ends = [party.public_key().public_bytes_raw() for party in (own, other)]
    info = b"privet sealed 1" + struct.pack("<HH", sender, receiver) + ends[0] + ends[1]
    sealing = key(agreement, own.exchange(other.public_key()), info)
    envelope = AESGCM(sealing).encrypt(b"\x00" * 4 + struct.pack("<Q", round), message, None)
    rows.append(
        {
            "sender": sender,
            "receiver": receiver,
            "sender_secret": secret(f"party {sender}").hex(),
            "receiver_secret": secret(f"party {receiver}").hex(),
            "sender_public": ends[0].hex(),
            "receiver_public": ends[1].hex(),
            "agreement": agreement.hex(),
            "round": str(round),
            "message": message.hex(),
            "envelope": envelope.hex(),
        }
    )

nonce = bytes(range(12))
at_rest = key(None, secret("ledger"), b"privet at rest 1" + b"a run")
stored = nonce + AESGCM(at_rest).encrypt(nonce, b"an item", struct.pack("<Q", 5))
with open("envelopes.json", "w") as out:
    json.dump({"rows": rows, "stored": stored.hex(), "secret": secret("ledger").hex()}, out, indent=1)
    out.write("\n")
