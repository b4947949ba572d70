# SPDX-License-Identifier: MIT
"""What every client's driver prints: one line for each thing that NVRTC gave, equal in every run that should be equal.

    report.begin("CuPy", cupy.__version__, compiles=5, kept=4)
    with report.compiling():
        cubin = ...
    report.product("saxpy cubin", cubin)
    report.text("saxpy log", log)

`compiles` is how many compilations the driver asks for, `kept` how many of them a cache may keep. Standard output is what
scripts/clients compares; it reads versions, numbers and times on standard error. Module ids (_<8 hex>_<pid>) and call
numbers of PTX comments are new in every process: they are printed alike.
"""
import contextlib
import hashlib
import json
import re
import sys
import time

_facts = {"seconds": 0.0}


def begin(client, version, compiles, kept=None):
    _facts.update(client=client, version=version, compiles=compiles, kept=compiles if kept is None else kept)


@contextlib.contextmanager
def compiling():
    start = time.monotonic()
    try:
        yield
    finally:
        _facts["seconds"] += time.monotonic() - start


def normalise(data):
    data = re.sub(rb"_[0-9a-fA-F]{8}_[0-9]+", b"_ID", data)
    return re.sub(rb"// callseq [0-9]+", b"// callseq N", data)


def product(what, data):
    data = normalise(bytes(data))
    print(f"{what}: {len(data)} bytes, {hashlib.sha256(data).hexdigest()}", flush=True)


def text(what, data):
    if isinstance(data, bytes):
        data = data.decode(errors="backslashreplace")
    data = normalise(data.encode(errors="backslashreplace")).decode(errors="backslashreplace")
    print(f"{what}: {data!r}", flush=True)


def end():
    print("report " + json.dumps(_facts), file=sys.stderr, flush=True)
