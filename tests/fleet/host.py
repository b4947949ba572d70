#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""host: a program that compiles kernels one after the other, as all nodes of a fleet run it (scripts/fleet)

usage: host.py LIBRARY WORKLOAD COUNT AT [OPTION...]

WORKLOAD: plain (a kernel that includes "node.h") or cub (and CUB's block reduction). The kernels are
numbered and differ in a constant. AT: when to begin, in nanoseconds of CLOCK_MONOTONIC; 0: now. On stdout:
everything that the host got, to be compared byte by byte. On stderr, last: "host WALL FIRST", the nanoseconds from when
the compiler was loaded to the end, and to the first kernel's end.
"""
import ctypes
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hosts"))
from compiler import Program  # noqa: E402

SOURCES = {
    "plain": """#include "node.h"
template <typename T> __global__ void k(T *p) { p[threadIdx.x] *= SCALE + %u; }
""",
    "cub": """#include "node.h"
#include <cub/block/block_reduce.cuh>
template <typename T> __global__ void k(T *p) {
	typedef cub::BlockReduce<T, 128> reduce;
	__shared__ typename reduce::TempStorage storage;
	T sum = reduce(storage).Sum(p[threadIdx.x]);
	if (threadIdx.x == 0) p[0] = sum * SCALE + %u;
}
""",
}


def one_kernel(library, source, options, out):
    program = Program(library, source, "k.cu", ["k<float>"])
    out.write(b"compile %d\n" % program.compile(options))
    for product in ("PTX", "CUBIN", "ProgramLog"):
        code, size, got, content = program.get(product)
        out.write(b"%s %d %d %d\n" % (product.encode(), code, size, got) + content)
    out.write(b"lowered %d %s\n" % (lambda code, name: (code, name.encode()))(*program.lowered("k<float>")))
    out.write(b"destroy %d\n" % program.destroy())


def main():
    source, count, begin_at = SOURCES[sys.argv[2]], int(sys.argv[3]), int(sys.argv[4])
    time.sleep(max(0, begin_at - time.monotonic_ns()) / 1e9)
    library = ctypes.CDLL(sys.argv[1])
    begin, ends = time.monotonic_ns(), []
    for number in range(count):
        one_kernel(library, source % number, sys.argv[5:], sys.stdout.buffer)
        ends.append(time.monotonic_ns())
    sys.stdout.flush()
    print("host", time.monotonic_ns() - begin, (ends or [begin])[0] - begin, file=sys.stderr)


main()
