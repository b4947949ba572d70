# SPDX-License-Identifier: MIT
"""tinygrad: NVRTCCompiler, through ctypes; its own cache is above compile() and so not asked."""
import importlib.metadata

import kernels
import report
from tinygrad.runtime.support.compiler_cuda import NVRTCCompiler

report.begin("tinygrad", importlib.metadata.version("tinygrad"), compiles=4)
for arch in ("sm_80", "sm_90"):
    with report.compiling():
        cubin = NVRTCCompiler(arch, ptx=False).compile(kernels.SAXPY)
    report.product(f"saxpy {arch}", cubin)
with report.compiling():
    ptx = NVRTCCompiler("sm_90").compile(kernels.FP16)
report.product("cuda_fp16 PTX", ptx)
report.text("cuda_fp16 PTX", ptx[:40])
try:
    with report.compiling():
        NVRTCCompiler("sm_90", ptx=False).compile(kernels.BROKEN)
except Exception as error:  # it raises its own and prints the log into it
    report.text(type(error).__name__, str(error))
report.end()
