# SPDX-License-Identifier: MIT
"""PyTorch: _nvrtc_compile(), what is under torch.cuda._compile_kernel(). It uses the NVRTC that came with it, and always
one name expression. jiterator and TorchScript's fuser need a GPU.
"""
import os

import kernels
import report
import torch
from torch.cuda._utils import _nvrtc_compile


def compile_kernel(what, source, name, **options):
    try:
        with report.compiling():
            data, lowered = _nvrtc_compile(source, name, compute_capability="90", **options)
        report.product(what, data)
        report.text(f"{what}: name", lowered)
    except RuntimeError as error:
        report.text(what, str(error))


report.begin("PyTorch", torch.__version__, compiles=4)
compile_kernel("saxpy", kernels.SAXPY, "saxpy")
compile_kernel("template", kernels.TEMPLATE, "fill<float, 32>")
compile_kernel("toolkit headers", kernels.FP16, "add", cuda_include_dirs=[os.environ["CUDA_INCLUDE"]])
compile_kernel("broken", kernels.BROKEN, "broken")
report.end()
