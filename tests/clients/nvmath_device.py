# SPDX-License-Identifier: MIT
"""nvmath-python: an FFT for devices as LTO-IR, which libmathdx makes with NVRTC. It asks the driver for its version and for
nothing else, so a driver that says this stands in where there is none. By default libmathdx unpacks NVRTC's headers (13.3 and
later) into a new temporary directory in each process, and the compilation that unpacks is never cached.
"""
import ctypes
import importlib.metadata
import os
import subprocess

import numpy
import report

DRIVER = "int cuInit(unsigned flags) { return flags, 100; } int cuDriverGetVersion(int *version) { return *version = 13050, 0; }"

os.environ["LIBMATHDX_NVRTC_NO_BUNDLED_HEADERS"] = "1"
try:
    ctypes.CDLL("libcuda.so.1").cuDriverGetVersion
except (OSError, AttributeError):
    driver = os.path.join(os.environ.get("TMPDIR", "/tmp"), "libcuda.so.1")
    if not os.path.exists(driver):
        subprocess.run(["cc", "-shared", "-fPIC", "-Wl,-soname,libcuda.so.1", "-xc", "-", "-o", driver], input=DRIVER.encode(),
                       env={**os.environ, "LD_PRELOAD": ""}, check=True)
    ctypes.CDLL(driver)

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
