# SPDX-License-Identifier: MIT
"""tilelang: compile_cuda(), through cuda.bindings; always with -pch. It asks for the driver's library to start, so without
a driver a stub stands in.
"""
import os

import kernels
import report
import tilelang
from tilelang.contrib import nvrtc

TOP = os.path.dirname(tilelang.__file__)
OPTIONS = [f"-I{TOP}/src", f"-I{TOP}/3rdparty/cutlass/include", "-I" + os.environ["CUDA_INCLUDE"],
           "-I" + os.environ["CUDA_INCLUDE"] + "/cccl", "-std=c++17"]

report.begin("tilelang", tilelang.__version__, compiles=2)
for target in ("ptx", "cubin"):
    with report.compiling():
        data = nvrtc.compile_cuda(kernels.SAXPY, target_format=target, arch=90, options=OPTIONS)
    report.product(f"saxpy {target}", data if isinstance(data, (bytes, bytearray)) else data.encode())
report.end()
