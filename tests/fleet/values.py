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
RAW, RLE = 0, 1


def read_keys(path):
    with open(path, encoding="ascii") as file:
        name, digits = file.read().split()[:2]
    return name.encode(), bytes.fromhex(digits)


def seal(value, keys, payload=None, **changed):
    """The value with another head and payload; signed, unless keys is None."""
    names = ("magic", "version", "format", "raw_size", "key", "id", "mac")
    head = dict(zip(names, HEAD.unpack(value[:HEAD.size])))
    head.update(changed)
    payload = value[HEAD.size:] if payload is None else payload
    head["id"], head["mac"] = keys[0] if keys else b"", b""
    packed = HEAD.pack(*(head[name] for name in names))
    if keys:
        mac = hashlib.blake2b(packed[:72] + payload, key=keys[1], digest_size=32).digest()
        packed = packed[:72] + mac
    return packed + payload


def block(kind, size, body, last=False):
    return struct.pack("<I", last | kind << 1 | size << 3)[:3] + body


def bomb(size):
    """A frame of zstd that says nothing of its size, and unpacks to so many zeros."""
    blocks = size // BLOCK
    return ZSTD_MAGIC + WINDOW_128K + block(RLE, BLOCK, b"\0") * (blocks - 1) + block(RLE, BLOCK, b"\0", last=True)


def plain_frame(body):
    return ZSTD_MAGIC + WINDOW_128K + block(RAW, len(body), body, last=True)


def each(change):
    return lambda values, keys: {name: change(value, keys) for name, value in values.items()}


def moved(values, _):
    names = list(values)
    return {name: values[names[(at + 1) % len(names)]] for at, name in enumerate(names)}


def moved_inside(values, keys):
    names = list(values)
    return {name: seal(value, keys, payload=values[names[(at + 1) % len(names)]][HEAD.size:],
                       raw_size=HEAD.unpack(values[names[(at + 1) % len(names)]][:HEAD.size])[3])
            for at, (name, value) in enumerate(values.items())}


def flipped(value, _):
    return value[:-9] + bytes([value[-9] ^ 16]) + value[-8:]


LIES = {
    "a flipped bit": each(flipped),
    "half of it": each(lambda value, _: value[:len(value) // 2]),
    "nothing": each(lambda value, _: b""),
    "another key's value": moved,
    "unsigned": each(lambda value, _: seal(value, None)),
    "signed with another key": each(lambda value, keys: seal(value, (keys[0], bytes(32)))),
    "an old format": each(lambda value, keys: seal(value, keys, format=0)),
    "a bomb, unsigned": each(lambda value, _: seal(value, None, bomb(1 << 30), raw_size=1 << 20)),
    "a bomb, signed": each(lambda value, keys: seal(value, keys, bomb(1 << 30), raw_size=1 << 20)),
    "a terabyte, signed": each(lambda value, keys: seal(value, keys, raw_size=1 << 40)),
    "noise, signed": each(lambda value, keys: seal(value, keys, plain_frame(bytes(range(256)) * 8), raw_size=2048)),
    "another's result, signed": moved_inside,
}
