#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The start of a program with 50 kernels, 40 plain, 8 with cuda_fp16.h and 2 with CUB, each compiled once through
cuda.core: without a cache, with an empty one, and with a full one. Seconds of the whole process, and of its compiles.

usage: start.py BUILD      environment: as for peers.py
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PLAIN = 'extern "C" __global__ void k(float a, const float *x, float *y) {{ y[threadIdx.x] += a * x[threadIdx.x] * {n}; }}\n'
FP16 = '#include <cuda_fp16.h>\nextern "C" __global__ void k(__half *p) {{ p[{n}] = __hadd(p[0], p[1]); }}\n'
CUB = """#include <cub/block/block_reduce.cuh>
extern "C" __global__ void k(float *p) {{
	typedef cub::BlockReduce<float, 32 * {n}> reduce;
	__shared__ typename reduce::TempStorage storage;
	p[0] = reduce(storage).Sum(p[threadIdx.x]);
}}
"""
KERNELS = [(PLAIN, n) for n in range(40)] + [(FP16, n) for n in range(8)] + [(CUB, n) for n in (1, 2)]


def client():
    from cuda.core import Program, ProgramOptions

    include = os.environ["CUDA_INCLUDE"]
    options = ProgramOptions(arch="sm_90", include_path=[f"{include}/cccl", include])
    start = time.perf_counter()
    for text, n in KERNELS:
        Program(text.format(n=n), "c++", options).compile("cubin")
    print(json.dumps(time.perf_counter() - start))


def measure(build, top):
    from peers import python_of_cuda_core

    plain = {key: value for key, value in os.environ.items() if not key.startswith("NVRTCCACHE_") and key != "LD_PRELOAD"}
    plain["LD_LIBRARY_PATH"] = os.environ["NVRTC_LIB"]
    ours = dict(plain, LD_PRELOAD=os.path.join(build, "libnvrtccache.so"), NVRTCCACHE_DIR=os.path.join(top, "cache"))
    python = python_of_cuda_core()

    def run(environment):
        start = time.perf_counter()
        done = subprocess.run([python, __file__, "--client"], env=environment, check=True, capture_output=True, text=True)
        return time.perf_counter() - start, json.loads(done.stdout)

    print(f"{'50 kernels, seconds':<22}{'process':>10}{'compiles':>10}")
    for name, environment, rounds in (("no cache", plain, 1), ("empty cache", ours, 1), ("full cache", ours, 5)):
        times = [run(environment) for _ in range(rounds)]
        print(f"{name:<22}" + "".join(f"{statistics.median(column):>10.3f}" for column in zip(*times)))


if sys.argv[1] == "--client":
    client()
else:
    place = tempfile.mkdtemp(prefix="nvrtccache-start-")
    try:
        measure(os.path.abspath(sys.argv[1]), place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
