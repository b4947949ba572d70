# SPDX-License-Identifier: MIT
"""numba-cuda: CUDA C++ that is linked into kernels, through cuda.core; LTO-IR works without a driver, PTX does not."""
import importlib.metadata
import warnings

import kernels
import report
from numba.cuda.cudadrv import nvrtc

HALF = """
#include <cuda_fp16.h>
extern "C" __device__ int add(__half *result, __half *a, __half *b)
{
	*result = *a + *b;
	return 0;
}
"""


def compile_program(what, source, **options):
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with report.compiling():
                code, log = nvrtc.compile(source, f"{what}.cu", (9, 0), ltoir=True, **options)
            report.product(f"{what} LTO-IR", code.code)
            report.text(f"{what} log", repr(log))
        except Exception as error:  # what a user of the package would see
            report.text(f"{what} {type(error).__name__}", str(error))
    report.text(f"{what} warnings", repr([str(warning.message) for warning in warned]))


report.begin("numba-cuda", importlib.metadata.version("numba-cuda"), compiles=5)
compile_program("twice", kernels.DEVICE_FUNCTION)
compile_program("lines", kernels.DEVICE_FUNCTION, lineinfo=True)
compile_program("half", HALF)
compile_program("warning", kernels.WARNING)
compile_program("broken", kernels.BROKEN)
report.end()
