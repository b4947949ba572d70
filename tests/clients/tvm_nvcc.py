# SPDX-License-Identifier: MIT
"""TVM: compile_cuda() with NVRTC as the compiler, through cuda.bindings. It asks for the driver's library to start, so
without a driver a stub stands in.
"""
import kernels
import report
import tvm
from tvm.support import nvcc

report.begin("TVM", tvm.__version__, compiles=4)
for target, arch in (("ptx", "sm_80"), ("ptx", "sm_90"), ("cubin", "sm_90")):
    with report.compiling():
        data = nvcc.compile_cuda(kernels.SAXPY, target_format=target, arch=arch, compiler="nvrtc")
    report.product(f"saxpy {target} {arch}", data)
try:
    with report.compiling():
        nvcc.compile_cuda(kernels.BROKEN, target_format="cubin", arch="sm_90", compiler="nvrtc")
except RuntimeError as error:
    report.text(type(error).__name__, str(error))
report.end()
