# SPDX-License-Identifier: MIT
"""numba-cuda: eleven kernels as their first launch makes them, from Python through libNVVM to a CUBIN that nvJitLink links,
three of them with a function in CUDA C++, which NVRTC compiles. Before it loads the CUBIN, a launch asks the device for its
compute capability and for nothing else: so a device that says this is all that is pretended.
"""
import importlib.metadata
import math
import types
import warnings

import kernels
import report
from numba import cuda, float32, float64, int32
from numba.core.errors import NumbaPerformanceWarning
from numba.cuda import codegen, dispatcher
from numba.cuda.cudadrv.linkable_code import CUSource

warnings.simplefilter("ignore", NumbaPerformanceWarning)
CAPABILITY = (9, 0)
device = types.SimpleNamespace(compute_capability=CAPABILITY)
dispatcher.get_current_device = lambda: device
codegen.devices = types.SimpleNamespace(get_context=lambda: types.SimpleNamespace(device=device))

twice = cuda.declare_device("twice", int32(int32), link=CUSource(kernels.DEVICE_FUNCTION.encode(), name="twice.cu"))


@cuda.jit(device=True)
def clamp(x, low, high):
    return min(max(x, low), high)


def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


def transcendental(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sin(x[i]) * math.exp(x[i]) + math.pow(x[i], 1.5) + math.log(x[i])


def block_sum(x, out):
    part = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if i < step:
            part[i] += part[i + step]
        cuda.syncthreads()
        step //= 2
    if i == 0:
        cuda.atomic.add(out, 0, part[0])


def transpose(a, b):
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        b[j, i] = a[i, j]


def matmul(a, b, c):
    i, j = cuda.grid(2)
    total = 0.0
    for k in range(a.shape[1]):
        total += a[i, k] * b[k, j]
    c[i, j] = total


def clamped(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = clamp(x[i], 0.0, 1.0)


def error_function(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = math.erf(x[i]) / math.gamma(x[i])


def doubled(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = twice(x[i])


def doubled_twice(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = twice(twice(x[i]))


def doubled_sum(x, out):
    cuda.atomic.add(out, 0, twice(x[cuda.grid(1)]))


LAUNCHED = [
    (saxpy, (float32, float32[::1], float32[::1])),
    (saxpy, (float64, float64[::1], float64[::1])),
    (transcendental, (float64[::1], float64[::1])),
    (block_sum, (float32[::1], float32[::1])),
    (transpose, (float32[:, ::1], float32[:, ::1])),
    (matmul, (float64[:, ::1], float64[:, ::1], float64[:, ::1])),
    (clamped, (float32[::1],)),
    (error_function, (float64[::1],)),
    (doubled, (int32[::1],)),
    (doubled_twice, (int32[::1],)),
    (doubled_sum, (int32[::1], int32[::1])),
]


def launched(number, function, arguments):
    with report.compiling():
        kernel = dispatcher._Kernel(function, arguments, lto=True)
        library = kernel._codelibrary
        cubin = library.get_cubin(cc=CAPABILITY)
    what = f"{number}: {function.__name__}"
    report.product(f"{what} PTX", library.get_asm_str().encode())
    report.product(f"{what} LTO-IR", library.get_ltoir(cc=CAPABILITY))
    report.product(f"{what} CUBIN", cubin.code)
    report.text(f"{what} log", library.get_linkerinfo(CAPABILITY))


# each is verified, compiled to PTX, verified, compiled to LTO-IR and linked
report.begin("numba-cuda", importlib.metadata.version("numba-cuda"), compiles=3 + 5 * len(LAUNCHED))
for number, (function, arguments) in enumerate(LAUNCHED):
    launched(number, function, arguments)
report.end()
