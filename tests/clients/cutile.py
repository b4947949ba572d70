# SPDX-License-Identifier: MIT
"""cuTile: kernels exported as CUBIN. tileiras, a program of its own, calls libNVVM through its private functions and then runs
ptxas, so nothing is cached; each look-up of a private function is counted.
"""
import importlib.metadata
import io

import cuda.tile as ct
import report
from cuda.tile import compilation

SIZE = 128


@ct.kernel
def add(a, b, c):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.load(a, index=(i,), shape=(SIZE,)) + ct.load(b, index=(i,), shape=(SIZE,)))


@ct.kernel
def scale(a, c):
    i = ct.bid(0)
    ct.store(c, index=(i,), tile=ct.exp(ct.load(a, index=(i,), shape=(SIZE,))))


def export(kernel, count):
    array = compilation.ArrayConstraint(ct.float32, 1, index_dtype=ct.int32, stride_lower_bound_incl=0, alias_groups=(),
                                        may_alias_internally=False, stride_constant=(1,))
    signature = compilation.KernelSignature([array] * count, calling_convention=compilation.CallingConvention.cutile_python_v1())
    cubin = io.BytesIO()
    with report.compiling():
        compilation.export_kernel(kernel, [signature], cubin, gpu_code="sm_100", output_format="cubin")
    report.product(f"{kernel._annotated_function.pyfunc.__name__} cubin", cubin.getvalue())


report.begin("cuTile", importlib.metadata.version("cuda-tile"), compiles=2, kept=0)
export(add, 3)
export(scale, 2)
report.end()
