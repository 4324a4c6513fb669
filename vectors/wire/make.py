"""Writes the frames that crates/privet/tests/all/vertical/vectors.rs repeats byte for byte.

Nothing is shared with the library: frames follow the table in wire/frame.rs, messages the order of their fields. Needs nothing but
Python. Run it in this folder: `python make.py`. The output is committed.
"""

import hashlib
import json
import struct


def long(n):
    return struct.pack("<Q", n)


def word(n):
    return struct.pack("<I", n)


def data(bytes):
    return long(len(bytes)) + bytes


def text(text):
    return data(text.encode())


def items(encoded):
    return long(len(encoded)) + b"".join(encoded)


def frames(sender, receiver, number, acknowledged, message):
    """A message in frames of at most 2^20 bytes; other kinds have one frame without a body."""
    kind = {None: 2, "acknowledged": 3, "greeting": 4}.get(message, 1) if not isinstance(message, bytes) else 1
    body = message if kind == 1 else b""
    parts = range(0, max(len(body), 1), 1 << 20)
    for place, at in enumerate(parts):
        head = b"privet" + bytes([2, kind]) + DIGEST
        head += struct.pack("<HHQQQQ", sender, receiver, number + place, acknowledged, len(body), at)
        part = body[at : at + (1 << 20)]
        yield head + part + hashlib.sha256(head + part).digest()[:16]


RUN = bytes(range(16))
# Terms: run; name, role and keys (none) of each party; the hub; bytes of a message; most ids; digest of the job.
TERMS = RUN + items([text(name) + text(role) + b"\x00" for name, role in [("bank", "label holder"), ("shop", "feature holder"), ("club", "")]])
TERMS += b"\x01" + word(0) + long(1 << 31) + b"\x01" + long(5000) + b"\x2a" * 32
DIGEST = hashlib.sha256(b"privet agreement 1\x00" + TERMS).digest()
LARGE = hashlib.sha256(b"large").digest() * 40000
HELLO = b"\x01" + items([text("epsilon") + text("0.5"), text("bins") + text("10")])
rows = [
    ("hello, given", 0, 1, 0, HELLO + b"\x01" + b"\x01" + long(293600)),
    ("hello, offer", 0, 2, 0, HELLO + b"\x02" + b"\x02" + data(b"\x07\x08\x09")),
    ("hello, branches", 0, 1, 1, HELLO + b"\x03" + items([text("age") + b"\x05" * 32 + items([word(0), word(3)])]) + b"\x01" + long(2)),
    ("answer", 2, 0, 0, b"\x02" + data(b"points")),
    ("common", 0, 2, 1, b"\x03" + data(b"")),
    ("splits", 0, 1, 2, b"\x06" + items([items([word(1), word(70000)]), items([])])),
    ("thresholds", 1, 0, 2, b"\x07" + items([items([word(3) + word(65535)])])),
    ("aborted", 1, 0, 3, None),
    ("acknowledged", 1, 0, 0, "acknowledged"),
    ("greeting", 1, 0, 7, "greeting"),
]
rows = [
    {"name": name, "from": sender, "to": receiver, "number": number, "acknowledged": place, "frame": next(frames(sender, receiver, number, place, message)).hex()}
    for place, (name, sender, receiver, number, message) in enumerate(rows)
]
large = [hashlib.sha256(frame).hexdigest() for frame in frames(0, 1, 5, 2, LARGE)]
with open("frames.json", "w") as out:
    json.dump({"terms": TERMS.hex(), "agreement": DIGEST.hex(), "rows": rows, "large": large}, out, indent=1)
    out.write("\n")
