# SPDX-License-Identifier: MIT
"""KeOps: formulas that it turns into CUDA C++ and compiles to CUBINs. What calls NVRTC is a library that KeOps builds by itself,
which imports NVRTC's functions without versions, and may lack it among the libraries that it needs."""
import os

import device
import report

device.pretend("libcuda.so.1", "libcudart.so.13", KEOPS_VERBOSE="0")
import keopscore  # noqa: E402
from keopscore.get_keops_dll import get_keops_dll_impl  # noqa: E402

GAUSSIAN = "Sum_Reduction(Exp(Minus(Sum(Square(Var(0,3,0)-Var(1,3,1)))))*Var(2,1,1),{axis})"
FORMULAS = {"Gaussian, rows": GAUSSIAN.format(axis=0), "Gaussian, columns": GAUSSIAN.format(axis=1),
            "inverse distance": "Sum_Reduction(Inv(Norm2(Var(0,3,0)-Var(1,3,1)))*Var(2,1,1),0)"}

report.begin("KeOps", keopscore.__version__, compiles=len(FORMULAS))
for name, formula in FORMULAS.items():
    with report.compiling():
        made = get_keops_dll_impl("GpuReduc1D", formula, 0, 0, 0, [], 3, "float", "float", "block_sum", 0, 1, 0, 0, 0, 0)
    with open(os.fsdecode(made[2]), "rb") as file:
        report.product(name, file.read())
report.end()
