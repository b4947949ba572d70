# SPDX-License-Identifier: MIT
"""cuda.core: Program on top of cuda.bindings. Without a driver it makes CUBIN and LTO-IR; for PTX it asks the driver."""
import io
import os

import cuda.core
import kernels
import report
from cuda.core import Program, ProgramOptions


class Log(io.StringIO):
    """cuda.core writes the log to it."""


def compile_program(what, source, target, names=(), **options):
    log = Log()
    try:
        with report.compiling():
            code = Program(source, "c++", ProgramOptions(arch="sm_" + report.ARCH, **options)).compile(
                target, name_expressions=names, logs=log)
        report.product(f"{what} {target}", code.code)
        report.text(f"{what} names", repr(sorted(code.symbol_mapping.items())))
    except Exception as error:  # what a user of the package would see
        report.text(f"{what} {type(error).__name__}", str(error))
    report.text(f"{what} log", log.getvalue())


report.begin("cuda.core", cuda.core.__version__, compiles=8)
compile_program("saxpy", kernels.SAXPY, "cubin")
compile_program("saxpy, named", kernels.SAXPY, "cubin", name="saxpy.cu", std="c++20", use_fast_math=True)
compile_program("lines", kernels.SAXPY, "cubin", name="lines.cu", lineinfo=True)
compile_program("templates", kernels.TEMPLATE, "cubin", names=tuple(kernels.TEMPLATE_NAMES))
compile_program("LTO", kernels.DEVICE_FUNCTION, "ltoir", link_time_optimization=True, relocatable_device_code=True)
compile_program("warning", kernels.WARNING, "cubin", define_macro=[("UNUSED", "1")])
compile_program("broken", kernels.BROKEN, "cubin")
compile_program("toolkit headers", kernels.FP16, "cubin", include_path=[os.environ["CUDA_INCLUDE"]])
report.end()
