# SPDX-License-Identifier: MIT
"""tinygrad: NVPTXCompiler, which has nvJitLink make a CUBIN of PTX, through ctypes. Its PTX has no NUL within its size."""
import glob
import importlib.metadata
import os
import site

import report

os.environ["NVJITLINK_PATH"], = [path for place in site.getsitepackages()
                                 for path in glob.glob(place + "/nvidia/*/lib/libnvJitLink.so.*")]
from tinygrad.runtime.support.compiler_cuda import NVPTXCompiler  # noqa: E402

SCALE = """.version VERSION
.target TARGET
.address_size 64
.visible .entry scale(.param .u64 where, .param .f32 factor)
{
	.reg .b64 %rd<5>;
	.reg .b32 %r<2>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd1, [where];
	ld.param.f32 %f1, [factor];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	cvta.to.global.u64 %rd3, %rd1;
	add.s64 %rd4, %rd3, %rd2;
	ld.global.f32 %f2, [%rd4];
	mul.f32 %f3, %f1, %f2;
	st.global.f32 [%rd4], %f3;
	ret;
}
"""

# each is added, two are linked; what is no PTX is refused, and so not kept
report.begin("tinygrad", importlib.metadata.version("tinygrad"), compiles=6, kept=5)
for arch in ("sm_80", "sm_90"):
    with report.compiling():
        cubin = NVPTXCompiler(arch).compile(SCALE)
    report.product(f"scale {arch}", cubin)
for what, source in (("an unknown instruction", SCALE.replace("mul.f32", "mill.f32")), ("no PTX", "no PTX")):
    try:
        with report.compiling():
            NVPTXCompiler("sm_90").compile(source)
    except Exception as error:  # it raises its own and prints the log into it
        report.text(f"{what}: {type(error).__name__}", str(error))
report.end()
