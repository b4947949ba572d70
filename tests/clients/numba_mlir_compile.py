# SPDX-License-Identifier: MIT
"""numba-cuda-mlir: functions to PTX and LTO-IR, from MLIR through libNVVM. It asks the device for its compute capability,
which is answered here.
"""
import importlib.metadata
import math

import report
from numba_cuda_mlir import compiler, tools, types

tools._cached_cc = (9, 0)


def length(x, y):
    return math.hypot(math.sin(x), y)


def power(x, y):
    return math.pow(x, y) + math.log(x)


report.begin("numba-cuda-mlir", importlib.metadata.version("numba-cuda-mlir"), any_kept=True)
for function in (length, power):
    for kind in (types.float32, types.float64):
        for output in ("ptx", "ltoir"):
            with report.compiling():
                code, result = compiler.compile(function, (kind, kind), cc=(9, 0), output=output)
            what = f"{function.__name__} {kind} {output}"
            report.product(what, code if isinstance(code, bytes) else code.encode())
            report.text(f"{what}: type", str(result))
report.end()
