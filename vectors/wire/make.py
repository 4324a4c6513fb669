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


def frame(run, sender, receiver, number, message):
    kind = 2 if message is None else 1
    body = message or b""
    head = b"privet" + bytes([1, kind]) + run + struct.pack("<HHQQ", sender, receiver, number, len(body))
    return head + body + hashlib.sha256(head + body).digest()[:16]


RUN = bytes(range(16))
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
]
rows = [
    {"name": name, "from": sender, "to": receiver, "number": number, "frame": frame(RUN, sender, receiver, number, message).hex()}
    for name, sender, receiver, number, message in rows
]
with open("frames.json", "w") as out:
    json.dump({"run": RUN.hex(), "rows": rows}, out, indent=1)
    out.write("\n")
