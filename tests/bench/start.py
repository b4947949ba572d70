#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The start of a program with 50 kernels, 40 plain, 8 with cuda_fp16.h and 2 with CUB, each compiled once: a C program, and
Python programs with cuda.core and CuPy. Without a cache, with an empty one, and with a full one: seconds of the whole
process, and of its compiles. Beside them nvmath.device, which passes 120 MB of headers in memory.

usage: start.py BUILD      environment: as for peers.py, and NVRTC_SONAME
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


def core_client(include):
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(arch="sm_90", include_path=[f"{include}/cccl", include])
    return lambda source: Program(source, "c++", options).compile("cubin")


def cupy_client(include):
    from cupy.cuda import compiler

    compiler._get_arch_for_options_for_nvrtc = lambda arch=None: ("-arch=sm_90", "cubin")
    options = ("-std=c++17", f"-I{include}/cccl", f"-I{include}")
    return lambda source: compiler.compile_using_nvrtc(source, options, "90", cache_in_memory=True)


def nvmath_client(_):
    sys.argv[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "clients", "nvmath_device.py")
    sys.path.insert(0, os.path.dirname(sys.argv[0]))
    import report

    report.product = report.text = lambda *_: None
    report.end = lambda: sys.exit(print(json.dumps(report._facts["seconds"])))
    exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), {"__name__": "__main__"})


def client(maker):
    compile_one = {"cuda.core": core_client, "CuPy": cupy_client, "nvmath": nvmath_client}[maker](os.environ["CUDA_INCLUDE"])
    start = time.perf_counter()
    for text, n in KERNELS:
        compile_one(text.format(n=n))
    print(json.dumps(time.perf_counter() - start))


def commands(build, top):
    """{what: the command that compiles the kernels once and prints the seconds}"""
    from peers import python_of_cuda_core

    include, files = os.environ["CUDA_INCLUDE"], []
    for number, (text, n) in enumerate(KERNELS):
        files.append(os.path.join(top, f"k{number}.cu"))
        with open(files[-1], "w") as file:
            file.write(text.format(n=n))
    time.sleep(0.1)  # what is as new as its compilation is not cached
    library = os.path.join(os.environ["NVRTC_LIB"], os.environ["NVRTC_SONAME"])
    python = python_of_cuda_core(("CuPy", "nvmath"))
    start = [os.path.join(build, "tests", "start"), library, "-arch=sm_90", f"-I{include}/cccl", f"-I{include}", "--", *files]
    return {"C": start, **{name: [python, __file__, "--client", name] for name in ("cuda.core", "CuPy", "nvmath")}}


def measure(build, top):
    plain = {key: value for key, value in os.environ.items() if not key.startswith("NVRTCCACHE_") and key != "LD_PRELOAD"}
    plain["LD_LIBRARY_PATH"] = os.environ["NVRTC_LIB"]
    plain["CUDA_PATH"] = os.path.dirname(os.environ["CUDA_INCLUDE"])
    ours = dict(plain, LD_PRELOAD=os.path.join(build, "libnvrtccache.so"))

    def run(command, environment):
        start = time.perf_counter()
        done = subprocess.run(command, env=environment, cwd=top, check=True, capture_output=True, text=True)
        return time.perf_counter() - start, float(done.stdout.split()[-1])

    print(f"{'seconds: process, compiles':<28}{'no cache':>16}{'empty cache':>16}{'full cache':>16}")
    for name, command in commands(build, top).items():
        cells = []
        for environment, rounds in ((plain, 1), (dict(ours, NVRTCCACHE_DIR=os.path.join(top, name)), 1)) + ((
                dict(ours, NVRTCCACHE_DIR=os.path.join(top, name)), 5),):
            process, compiles = (statistics.median(column) for column in zip(*(run(command, environment) for _ in range(rounds))))
            cells.append(f"{process:.2f} {compiles:.3f}")
        print(f"{name:<28}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if sys.argv[1] == "--client":
    client(sys.argv[2])
else:
    place = tempfile.mkdtemp(prefix="nvrtccache-start-")
    try:
        measure(os.path.abspath(sys.argv[1]), place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
