#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a hit costs a program that uses cuda.core: with this library, with cuda.core's own caches, and with none; and what
ccache costs nvcc. Processor time, medians of interleaved runs; of ccache, which works in other processes, elapsed time.

usage: peers.py BUILD [ROUNDS]      environment: NVRTC_LIB (the library's directory), CUDA_INCLUDE, CUDA_HOME

cuda.core comes from PyPI, into build/clients. Its caches look at no header: the caller vouches for what is included
(here by a constant), and gets no lowered names from them.
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SAXPY = 'extern "C" __global__ void k(float a, const float *x, float *y) { y[threadIdx.x] += a * x[threadIdx.x]; }\n'
FP16 = "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half *p) { p[0] = __hadd(p[0], p[1]); }\n"
CUB = """#include <cub/block/block_reduce.cuh>
extern "C" __global__ void k(float *p) {
	typedef cub::BlockReduce<float, 128> reduce;
	__shared__ typename reduce::TempStorage storage;
	float sum = reduce(storage).Sum(p[threadIdx.x]);
	if (threadIdx.x == 0) p[0] = sum;
}
"""
SOURCES = {"saxpy": SAXPY, "fp16": FP16, "CUB, 650 headers": CUB, "1 MB of source": "// 0123456789abcdef 0123456789\n" * 35000 + SAXPY}
CACHES = ["none", "this library", "FileStreamProgramCache", "InMemoryProgramCache"]


def client(cache, name, directory, repeat):
    """In a process of its own: nanoseconds of the first compile, and of each later one."""
    from cuda.core import Program, ProgramOptions
    from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, make_program_cache_key

    include = os.environ["CUDA_INCLUDE"]
    source = SOURCES[name]
    options = ProgramOptions(arch="sm_90", include_path=[f"{include}/cccl", include])
    Program("// what cuda.core loads for its first program", "c++", options).close()
    kept = {"FileStreamProgramCache": lambda: FileStreamProgramCache(directory),
            "InMemoryProgramCache": InMemoryProgramCache}.get(cache, lambda: None)()

    def compile_once():
        if kept is None:
            return Program(source, "c++", options).compile("cubin").code
        key = make_program_cache_key(code=source, code_type="c++", options=options, target_type="cubin",
                                     extra_digest=b"the caller's")
        found = kept.get(key)
        if found is None:
            kept[key] = found = Program(source, "c++", options).compile("cubin")
        return found

    times = []
    for _ in range(repeat + 1):
        start = time.thread_time_ns()
        compile_once()
        times.append(time.thread_time_ns() - start)
    print(json.dumps(times))


def python_of_cuda_core():
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "clients"))
    from catalogue import CLIENTS, Environment

    environment = Environment("13")
    environment.install(next(one for one in CLIENTS if one.name == "cuda.core"))
    return environment.python


def measure(build, rounds, top):
    plain = {key: value for key, value in os.environ.items() if not key.startswith("NVRTCCACHE_") and key != "LD_PRELOAD"}
    plain["LD_LIBRARY_PATH"] = os.environ["NVRTC_LIB"]
    ours = dict(plain, LD_PRELOAD=os.path.join(build, "libnvrtccache.so"), NVRTCCACHE_DIR=os.path.join(top, "ours"))
    python = python_of_cuda_core()

    def run(cache, name, repeat):
        done = subprocess.run([python, __file__, "--client", cache, name, os.path.join(top, "theirs"), str(repeat)],
                              env=ours if cache == "this library" else plain, check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    print(f"{'us of a compile':<18}" + "".join(f"{cache:>26}" for cache in CACHES))
    for name in SOURCES:
        fresh, same = ({cache: [] for cache in CACHES} for _ in range(2))
        for cache in CACHES[1:3]:
            run(cache, name, 0)
        for cache in CACHES[:1]:
            fresh[cache] = run(cache, name, 0)
        for _ in range(rounds):
            for cache in CACHES[1:3]:
                fresh[cache].append(run(cache, name, 0)[0])
        for cache in CACHES[1:]:
            same[cache] = run(cache, name, 100)[1:]
        for what, times in (("fresh process", fresh), ("same process", same)):
            cells = [f"{statistics.median(times[cache]) / 1e3:,.0f}" if times[cache] else "-" for cache in CACHES]
            print(f"{name if what == 'fresh process' else '':<18}" + "".join(f"{cell:>26}" for cell in cells) + f"  {what}")


def ccache(top, rounds):
    nvcc = os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
    if not shutil.which("ccache") or not os.path.exists(nvcc):
        print("ccache with nvcc: not here")
        return
    path, environment = os.path.join(top, "saxpy.cu"), dict(os.environ, CCACHE_DIR=os.path.join(top, "ccache"))
    with open(path, "w") as file:
        file.write(SAXPY)
    times = []
    for _ in range(rounds + 2):
        start = time.perf_counter_ns()
        subprocess.run(["ccache", nvcc, "-c", "-arch=sm_90", path, "-o", path + ".o"], env=environment, check=True,
                       capture_output=True)
        times.append(time.perf_counter_ns() - start)
    print(f"ccache with nvcc -c, saxpy: {times[0] / 1e3:,.0f} us the first time, "
          f"{statistics.median(times[2:]) / 1e3:,.0f} us a hit")


if __name__ == "__main__":
    if sys.argv[1] == "--client":
        client(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5]))
    else:
        place = tempfile.mkdtemp(prefix="nvrtccache-peers-")
        try:
            measure(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 15, place)
            ccache(place, 15)
        finally:
            shutil.rmtree(place, ignore_errors=True)
