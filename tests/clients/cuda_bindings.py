# SPDX-License-Identifier: MIT
"""cuda.bindings: NVRTC's functions as they are. It asks dlsym(RTLD_DEFAULT) for every function before it loads NVRTC."""
import ctypes
import os

import cuda.bindings
import kernels
import report
from cuda.bindings import nvrtc

PRODUCTS = ["PTX", "CUBIN", "LTOIR", "OptiXIR", "TileIR"]


def call(function, *arguments):
    """Return code and results; newer functions are missing from older libraries, which bindings say by exceptions."""
    try:
        code, *results = getattr(nvrtc, "nvrtc" + function)(*arguments)
    except RuntimeError as error:
        return type(error).__name__, []
    return int(code), results


def everything(what, program, names=()):
    for name in PRODUCTS:
        code, size = call(f"Get{name}Size", program)
        data = b" " * (size[0] if size else 0)
        got, _ = call(f"Get{name}", program, data)
        report.text(f"{what} {name}", f"{code} {size} {got}")
        report.product(f"{what} {name}", data)
    _, size = call("GetProgramLogSize", program)
    log = b" " * size[0]
    call("GetProgramLog", program, log)
    report.text(f"{what} log", log)
    for name in names:
        report.text(f"{what} {name}", repr(call("GetLoweredName", program, name.encode())))
    report.text(f"{what} precompiled header",
                repr([call("GetPCHCreateStatus", program), call("GetPCHHeapSizeRequired", program)]))


def compile_program(what, source, options, name="kernel.cu", headers=(), names=(), callback=None):
    with report.compiling():
        code, (program,) = call("CreateProgram", source.encode(), name.encode(), len(headers),
                                [text.encode() for _, text in headers], [path.encode() for path, _ in headers])
        added = [call("AddNameExpression", program, expression.encode()) for expression in names]
        if callback:
            added.append(call("SetFlowCallback", program, ctypes.cast(callback, ctypes.c_void_p).value, 0))
        compiled, _ = call("CompileProgram", program, len(options), [option.encode() for option in options])
    report.text(what, f"create {code} add {added} compile {compiled}")
    everything(what, program, names)
    report.text(f"{what} destroy", repr(call("DestroyProgram", program)))


calls = []


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def flow(_payload, _reserved):
    calls.append(1)
    return 0


report.begin("cuda.bindings", cuda.bindings.__version__, compiles=10)
report.text("version", repr(call("Version")))
report.text("architectures", repr(call("GetSupportedArchs")))
compile_program("saxpy", kernels.SAXPY, ["-arch=sm_90"])
compile_program("saxpy, PTX only", kernels.SAXPY, ["-arch=compute_80", "--use_fast_math"], name="")
compile_program("LTO", kernels.DEVICE_FUNCTION, ["-arch=sm_90", "-dlto", "-rdc=true"])
compile_program("OptiX", kernels.SAXPY, ["-arch=compute_90", "-optix-ir"])
compile_program("templates", kernels.TEMPLATE, ["-arch=sm_90", "-std=c++17"], names=kernels.TEMPLATE_NAMES)
compile_program("a name that is not there", kernels.TEMPLATE, ["-arch=sm_90"], names=["fill<int, 8>", "none"])
compile_program("warning", kernels.WARNING, ["-arch=sm_90", "-lineinfo"])
compile_program("broken", kernels.BROKEN, ["-arch=sm_90"])
compile_program("headers", '#include "scale.h"\nextern "C" __global__ void k(float *x) { *x = scale(*x); }\n',
                ["-arch=sm_90"], headers=[("scale.h", "static __device__ float scale(float x) { return 3 * x; }\n"),
                                          ("unused.h", "#error this is never read\n")])
compile_program("toolkit headers", kernels.FP16, ["-arch=sm_90", "-I" + os.environ["CUDA_INCLUDE"]], callback=flow)
report.text("flow callback called", str(bool(calls)))
report.end()
