# SPDX-License-Identifier: MIT
"""cuda.core: its Linker, on LTO-IR, CUBIN and PTX, and its Program("nvvm"). None of them asks a driver."""
import io

import cuda.core
import kernels
import report
from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

CALLER = """
extern "C" __device__ int twice(int *result, int x);
extern "C" __global__ void doubled(int *x)
{
	twice(x + threadIdx.x, x[threadIdx.x]);
}
"""

PTX = b"""
.version 7.8
.target sm_90
.address_size 64
.visible .entry store(.param .u64 where)
{
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [where];
	st.global.u32 [%rd1], 7;
	ret;
}
"""

NVVM = """
target triple = "nvptx64-unknown-cuda"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-\
v32:32:32-v64:64:64-v128:128:128-n16:32:64"
declare double @__nv_sin(double)
define void @wave(double* %x)
{
	%before = load double, double* %x
	%after = call double @__nv_sin(double %before)
	store double %after, double* %x
	ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (double*)* @wave, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


def attempt(what, make):
    """What is made; None where the package raises, which is reported as its user would see it."""
    try:
        with report.compiling():
            made = make()
        report.product(what, made.code)
        return made
    except Exception as error:
        report.text(f"{what}: {type(error).__name__}", str(error))
        return None


def compile_nvvm(what, source, target, **options):
    log = io.StringIO()
    attempt(what, lambda: Program(source, "nvvm", ProgramOptions(arch="sm_90", **options)).compile(target, logs=log))
    report.text(f"{what}: log", log.getvalue())


def link(what, codes, target="cubin", **options):
    linkers = []

    def make():
        linkers.append(Linker(*codes, options=LinkerOptions(arch="sm_90", **options)))
        return linkers[0].link(target)

    made = attempt(what, make)
    if linkers:
        report.text(f"{what}: logs", repr((linkers[0].get_info_log(), linkers[0].get_error_log())))
    return made


def parts(target, **options):
    return [Program(source, "c++", ProgramOptions(arch="sm_90", name=name, relocatable_device_code=True, **options)).compile(target)
            for name, source in (("twice.cu", kernels.DEVICE_FUNCTION), ("doubled.cu", CALLER))]


# 4 by NVRTC; 5 links of LTO-IR, 3 inputs behind PTX and 2 links of them, a broken one; 4 verified, 3 compiled
report.begin("cuda.core", cuda.core.__version__, compiles=22)
ltoir = parts("ltoir", link_time_optimization=True)
link("LTO", ltoir, link_time_optimization=True)
link("LTO to PTX", ltoir, "ptx", link_time_optimization=True, ptx=True)
link("LTO, split", ltoir, link_time_optimization=True, split_compile=2, max_register_count=32)
link("LTO, a part is missing", ltoir[1:], link_time_optimization=True)
link("CUBIN", parts("cubin"))
link("PTX", [ObjectCode.from_ptx(PTX, name="store.ptx")])
link("PTX, verbose", [ObjectCode.from_ptx(PTX, name="store.ptx")], ptxas_options=["-v"])
link("PTX, broken", [ObjectCode.from_ptx(PTX.replace(b"ret;", b"return;"), name="broken.ptx")])
link("PTX and LTO", [ObjectCode.from_ptx(PTX, name="store.ptx"), *ltoir], link_time_optimization=True)
compile_nvvm("NVVM to PTX", NVVM, "ptx", use_libdevice=True)
compile_nvvm("NVVM to LTO-IR", NVVM, "ltoir", use_libdevice=True)
compile_nvvm("NVVM, fast", NVVM, "ptx", use_libdevice=True, ftz=True, fma=True, prec_div=False)
compile_nvvm("NVVM, broken", NVVM.replace("ret void", "ret i32 0"), "ptx")
report.end()
