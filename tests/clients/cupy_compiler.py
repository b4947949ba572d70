# SPDX-License-Identifier: MIT
"""CuPy: compile_using_nvrtc with its own headers and CUB; with cache_in_memory the program has no name, else it is a file
in a new temporary directory each time. Its cache on disk is above this function and so not asked.

LTO-IR and the log of a failure hold that directory's name, so those two results are of use to their own process alone.

CuPy asks the device for the architecture. Where there is none, that one question is answered here.
"""
import io

import cupy
import kernels
import report
from cupy._core import core
from cupy.cuda import compiler

HALF = """
#include <cupy/complex.cuh>
#include <cupy/carray.cuh>
extern "C" __global__ void norms(const complex<float> *in, CArray<float, 1, true, true> out, ptrdiff_t n)
{
	for (ptrdiff_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		out[i] = abs(in[i]);
	}
}
"""
SUM = """
#include <cub/block/block_reduce.cuh>
template <typename T, int N> __global__ void sum(const T *in, T *out)
{
	using Reduce = cub::BlockReduce<T, N>;
	__shared__ typename Reduce::TempStorage storage;
	T total = Reduce(storage).Sum(in[blockIdx.x * N + threadIdx.x]);

	if (threadIdx.x == 0) {
		out[blockIdx.x] = total;
	}
}
"""


NAMED_LTO = "file, LTO"


def without_device(arch=None):
    return f"-arch=sm_{arch}", "cubin"


try:
    cupy.cuda.runtime.getDevice()
except cupy.cuda.runtime.CUDARuntimeError:
    compiler._get_arch_for_options_for_nvrtc = without_device


def compile_program(what, source, in_memory, **options):
    log = io.StringIO()
    options.setdefault("options", ("-std=c++17",))
    try:
        with report.compiling():
            data, mapping = compiler.compile_using_nvrtc(source, arch=report.ARCH, log_stream=log,
                                                         cache_in_memory=in_memory, **options)
        report.product(what, data if what != NAMED_LTO else bytes(len(data)))
        report.text(f"{what}: names", repr(sorted((mapping or {}).items())))
    except compiler.CompileException as error:
        text = str(error)
        report.text(f"{what}: CompileException", text if in_memory else text.replace(error.name, "kern.cu"))
    report.text(f"{what}: log", log.getvalue())


report.begin("CuPy", cupy.__version__, compiles=14, kept=12)
OWN = core.assemble_cupy_compiler_options(())
for how, memory in (("memory", True), ("file", False)):
    compile_program(f"{how}, saxpy", kernels.SAXPY, memory)
    compile_program(f"{how}, templates", kernels.TEMPLATE, memory, name_expressions=kernels.TEMPLATE_NAMES)
    compile_program(f"{how}, LTO", kernels.DEVICE_FUNCTION, memory, options=("-dlto", "-rdc=true"), method="lto")
    compile_program(f"{how}, broken", kernels.BROKEN, memory)
    compile_program(f"{how}, its headers", HALF, memory, options=OWN)
    compile_program(f"{how}, CUB", SUM, memory, options=OWN, name_expressions=["sum<float, 128>", "sum<int, 64>"])
with report.compiling():
    fingerprint = compiler._preprocess("", ("-ftz=true",), report.ARCH, "nvrtc")
report.text("compiler's fingerprint", fingerprint)
with report.compiling():
    fingerprint = compiler._preprocess("", (), "80", "nvrtc")
report.text("compiler's fingerprint, another architecture", fingerprint)
report.end()
