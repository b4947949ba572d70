# SPDX-License-Identifier: MIT
"""nvmath-python: an FFT for devices as LTO-IR, which libmathdx makes with NVRTC. It asks the driver for its version and for
nothing else. By default libmathdx unpacks NVRTC's headers (13.3 and later) into a new temporary directory in each process, and
the compilation that unpacks is never cached.
"""
import importlib.metadata

import device
import report

device.pretend("libcuda.so.1", LIBMATHDX_NVRTC_NO_BUNDLED_HEADERS="1")
import numpy  # noqa: E402
from nvmath.device import FFT, CodeType, ComputeCapability, cufftdx  # noqa: E402

CAPABILITY = ComputeCapability(9, 0)

report.begin("nvmath-python", importlib.metadata.version("nvmath-python"), any_kept=True)
for size in (64, 128):
    transform = FFT(fft_type="c2c", size=size, precision=numpy.float32, direction="forward", execution="Block", sm=CAPABILITY)
    with report.compiling():
        code, symbol = cufftdx.compile_fft_execute(transform, CodeType("lto", CAPABILITY))
    report.product(f"FFT of {size} LTO-IR", code.data)
    report.text(f"FFT of {size} symbol", symbol)
report.end()
