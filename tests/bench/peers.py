#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a hit costs a program that uses cuda.core or CuPy: with this library, with their own caches, and with none; and
what ccache costs nvcc, and cuTile's cache a tile kernel. Processor time, medians of interleaved runs; of ccache and cuTile,
which compile in other processes, elapsed time.

usage: peers.py BUILD [ROUNDS]      environment: NVRTC_LIB (the library's directory), CUDA_INCLUDE, CUDA_HOME

The packages come from PyPI, into build/clients. cuda.core's caches look at no header: the caller vouches for what is
included (here by a constant), and gets no lowered names from them. CuPy's cache looks at no header either; it would load
the CUBIN into a GPU, which is left out. jitify2, which has a cache, too, is no package.
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
# The first has no cache, the second is ours, the third is on disk, those after it are in memory.
CACHES = {"cuda.core": ["none", "this library", "FileStreamProgramCache", "InMemoryProgramCache"],
          "CuPy": ["none", "this library", "its own cache"]}


def client(maker, cache, name, directory, repeat):
    """In a process of its own: nanoseconds of the first compile, and of each later one."""
    compile_once = (cupy_compile if maker == "CuPy" else core_compile)(cache, SOURCES[name], directory)
    times = []
    for _ in range(repeat + 1):
        start = time.thread_time_ns()
        compile_once()
        times.append(time.thread_time_ns() - start)
    print(json.dumps(times))


def cupy_compile(cache, source, directory):
    os.environ["CUPY_CACHE_DIR"] = directory
    from cupy.cuda import compiler

    class Unloaded:
        def load(self, cubin):
            self.cubin = cubin

        def _set_mapping(self, mapping):
            self.mapping = mapping

    compiler.function.Module = Unloaded
    compiler._get_arch_for_options_for_nvrtc = lambda arch=None: ("-arch=sm_90", "cubin")
    include = os.environ["CUDA_INCLUDE"]
    options = ("-std=c++17", f"-I{include}/cccl", f"-I{include}")
    return lambda: compiler._compile_with_cache_cuda(source, options, "90", cache_in_memory=cache != "its own cache")


def core_compile(cache, source, directory):
    from cuda.core import Program, ProgramOptions
    from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, make_program_cache_key

    include = os.environ["CUDA_INCLUDE"]
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

    return compile_once


def cutile(directory):
    """In a process of its own: nanoseconds of a compile with an empty cache, and of the same one after it."""
    os.environ["CUDA_TILE_CACHE_DIR"] = directory
    import io

    import cuda.tile as ct
    from cuda.tile import compilation

    @ct.kernel
    def copy(a, c):
        i = ct.bid(0)
        ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(128,)))

    array = compilation.ArrayConstraint(ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
                                        may_alias_internally=False, stride_constant=(1,))
    signature = compilation.KernelSignature([array] * 2, calling_convention=compilation.CallingConvention.cutile_python_v1())
    times = []
    for _ in range(8):
        start = time.perf_counter_ns()
        compilation.export_kernel(copy, [signature], io.BytesIO(), gpu_code="sm_100", output_format="cubin")
        times.append(time.perf_counter_ns() - start)
    print(json.dumps(times))


def python_of_cuda_core(others=()):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "clients"))
    from catalogue import CLIENTS, Environment

    environment = Environment("13")
    for name in ("cuda.core", *others):
        environment.install(next(one for one in CLIENTS if one.name == name))
    return environment.python


def measure(build, rounds, top):
    plain = {key: value for key, value in os.environ.items() if not key.startswith("NVRTCCACHE_") and key != "LD_PRELOAD"}
    plain["LD_LIBRARY_PATH"] = os.environ["NVRTC_LIB"]
    plain["CUDA_PATH"] = os.path.dirname(os.environ["CUDA_INCLUDE"])
    ours = dict(plain, LD_PRELOAD=os.path.join(build, "libnvrtccache.so"), NVRTCCACHE_DIR=os.path.join(top, "ours"))
    python = python_of_cuda_core(("CuPy", "cuTile"))

    def call(cache, *words):
        done = subprocess.run([python, __file__, *words], env=ours if cache == "this library" else plain, check=True,
                              capture_output=True, text=True)
        return json.loads(done.stdout)

    for maker, caches in CACHES.items():
        print(f"{maker + ', us of a compile':<24}" + "".join(f"{cache:>24}" for cache in caches))
        for name in SOURCES:
            def run(cache, repeat, maker=maker, name=name):
                return call(cache, "--client", maker, cache, name, os.path.join(top, maker), str(repeat))

            fresh, same = {cache: [] for cache in caches}, {}
            for cache in caches[1:3]:
                run(cache, 0)
            fresh[caches[0]] = run(caches[0], 0)
            for _ in range(rounds):
                for cache in caches[1:3]:
                    fresh[cache].append(run(cache, 0)[0])
            for cache in caches[1:]:
                same[cache] = run(cache, 100)[1:]
            for what, times in (("fresh process", fresh), ("same process", same)):
                cells = [f"{statistics.median(times[cache]) / 1e3:,.0f}" if times.get(cache) else "-" for cache in caches]
                print(f"{name if what == 'fresh process' else '':<24}" + "".join(f"{cell:>24}" for cell in cells) + f"  {what}")
    times = call("", "--cutile", os.path.join(top, "tile"))
    print(f"cuTile's cache: {times[0] / 1e3:,.0f} us the first time, {statistics.median(times[1:]) / 1e3:,.0f} us a hit")


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
        client(*sys.argv[2:6], int(sys.argv[6]))
    elif sys.argv[1] == "--cutile":
        cutile(sys.argv[2])
    else:
        place = tempfile.mkdtemp(prefix="nvrtccache-peers-")
        try:
            measure(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 15, place)
            ccache(place, 15)
        finally:
            shutil.rmtree(place, ignore_errors=True)
