# SPDX-License-Identifier: MIT
"""What every client's driver prints: one line for each thing that a compiler gave, equal in every run that should be equal.

    report.begin("CuPy", cupy.__version__, compiles=5, kept=4)
    with report.compiling():
        cubin = ...
    report.product("saxpy cubin", cubin)
    report.text("saxpy log", log)

`compiles` is how many compilations the driver asks for, `kept` how many of them a cache may keep; where only the cache can
count them, `compiles` is None, or any_kept true. `unverified` are those that take what NVRTC makes with module ids: when it is
verified, the driver gets NVRTC's own, with other ids, and asks for something else. Standard output is what scripts/clients compares; it reads versions, numbers and times on standard
error. Each line ends with a digest of the bytes as they are; what is before it is made alike where NVRTC makes something
anew in every process, the module ids (_<8 hex>_<pid>). Their length is told: mangled names hold their own lengths, and in a
CUBIN every offset behind a longer name is another, so that results of pids with more digits cannot be compared. Numbers of calls in comments of PTX, which older NVRTCs count
through a process, and times in logs are made alike in both.
"""
import contextlib
import hashlib
import json
import os
import re
import sys
import time

ARCH = os.environ.get("CLIENT_ARCH", "90")  # scripts/warm asks for another architecture
_facts = {"seconds": 0.0}


def begin(client, version, compiles=None, kept=None, any_kept=False, unverified=0):
    _facts.update(client=client, version=version, compiles=compiles, unverified=unverified,
                  kept=None if any_kept else compiles if kept is None else kept)


@contextlib.contextmanager
def compiling():
    start = time.monotonic()
    try:
        yield
    finally:
        _facts["seconds"] += time.monotonic() - start


def without_counts(data):
    data = re.sub(rb"Compile time = [0-9.]+ ms", b"Compile time = N ms", data)
    return re.sub(rb"// callseq [0-9]+", b"// callseq N", data)


ID = re.compile(rb"_[0-9a-fA-F]{8}_[0-9]+")


def without_ids(data):
    return ID.sub(b"_ID", data)


def line(what, said, data):
    ids = ID.findall(data)
    print(f"{what}: {said} with {len(ids)} ids of {sum(map(len, ids))} bytes as is {hashlib.sha256(data).hexdigest()[:16]}",
          flush=True)


def product(what, data):
    data = without_counts(bytes(data))
    alike = without_ids(data)
    line(what, f"{len(alike)} bytes, {hashlib.sha256(alike).hexdigest()}", data)


def text(what, data):
    if isinstance(data, str):
        data = data.encode(errors="backslashreplace")
    data = without_counts(data)
    line(what, repr(without_ids(data).decode(errors="backslashreplace")), data)


def end():
    print("report " + json.dumps(_facts), file=sys.stderr, flush=True)
