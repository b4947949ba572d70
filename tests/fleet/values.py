# SPDX-License-Identifier: MIT
"""values: what an engine that lies, or who can write into it, puts under a key (agent/wire/value.h)

Each function takes all true values, {name: bytes}, and the fleet's keys, and gives what stands there instead. Those that
are signed are signed rightly: by somebody who has stolen the key.
"""
import hashlib
import struct

HEAD = struct.Struct("<8sIIQ32s16s32s")
BLOCK = 131072  # the most that one block of zstd unpacks to
ZSTD_MAGIC, WINDOW_128K = b"\x28\xb5\x2f\xfd", b"\x00\x38"
RLE = 1


def read_keys(path):
    with open(path, encoding="ascii") as file:
        name, digits = file.read().split()[:2]
    return name.encode(), bytes.fromhex(digits)


def seal(value, keys, payload, raw_size):
    """The value with another payload, signed."""
    magic, version, entry_format, _, key, _, _ = HEAD.unpack(value[:HEAD.size])
    head = HEAD.pack(magic, version, entry_format, raw_size, key, keys[0], b"")[:72]
    return head + hashlib.blake2b(head + payload, key=keys[1], digest_size=32).digest() + payload


def block(last):
    return struct.pack("<I", last | RLE << 1 | BLOCK << 3)[:3] + b"\0"


def bomb(size):
    """A frame of zstd that says nothing of its size, and unpacks to so many zeros."""
    return ZSTD_MAGIC + WINDOW_128K + block(False) * (size // BLOCK - 1) + block(True)


def each(change):
    return lambda values, keys: {name: change(value, keys) for name, value in values.items()}


def flipped(value, _):
    return value[:-9] + bytes([value[-9] ^ 16]) + value[-8:]


# one for each counter; the unit suite of values tries more
LIES = {
    "a flipped bit": each(flipped),
    "nothing": each(lambda value, _: b""),
    "a bomb, signed": each(lambda value, keys: seal(value, keys, bomb(1 << 30), 1 << 20)),
}
