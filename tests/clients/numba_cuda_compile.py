# SPDX-License-Identifier: MIT
"""numba-cuda: what cuda.compile() and compile_ptx() give without a device, and two kernels that are linked from PTX, which
nvJitLink then compiles when it is added.
"""
import importlib.metadata
import math

import report
from cuda.core import Linker, LinkerOptions, ObjectCode
from numba import cuda, float32, float64, int32

CAPABILITY = (9, 0)


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def histogram(data, bins):
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(bins, data[i], 1)


def length(x, y):
    return math.hypot(math.sin(x), y)


def compiled(what, function, arguments, **options):
    with report.compiling():
        code, result = cuda.compile(function, arguments, cc=CAPABILITY, **options)
    report.product(what, code if isinstance(code, bytes) else code.encode())
    report.text(f"{what}: type", str(result))


def linked(function, arguments):
    """As numba's own linker does it where link-time optimization is off."""
    with report.compiling():
        ptx, _ = cuda.compile_ptx(function, arguments, cc=CAPABILITY)
        linker = Linker(ObjectCode.from_ptx(ptx.encode(), name="<cudapy-ptx>"), options=LinkerOptions(arch="sm_90a"))
        cubin = linker.link("cubin")
    report.product(f"{function.__name__} PTX", ptx.encode())
    report.product(f"{function.__name__} CUBIN", cubin.code)
    report.text(f"{function.__name__} logs", repr((linker.get_info_log(), linker.get_error_log())))


# eight and, before a debug build, one that only asks whether an option is known are verified and compiled; two are added
# as PTX and linked
report.begin("numba-cuda", importlib.metadata.version("numba-cuda"), compiles=22)
compiled("kernel", saxpy, (float32, float32[::1], float32[::1]), device=False, abi="numba")
compiled("function", length, (float64, float64))
compiled("LTO-IR", length, (float64, float64), output="ltoir")
compiled("lines", length, (float32, float32), lineinfo=True)
compiled("debug", length, (float32, float32), debug=True, opt=False)
compiled("fast", length, (float32, float32), fastmath=True)
linked(saxpy, (float64, float64[::1], float64[::1]))
linked(histogram, (int32[::1], int32[::1]))
report.end()
