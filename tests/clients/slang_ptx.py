# SPDX-License-Identifier: MIT
"""Slang: shaders to CUDA C++, which its compiler library (in slangpy's wheel) hands to an NVRTC that it opens itself."""
import ctypes
import glob
import importlib.metadata
import importlib.util
import os
import tempfile

import report

SCALE = """
RWStructuredBuffer<float> data;
[shader("compute")] [numthreads(64, 1, 1)]
void scale(uint3 id : SV_DispatchThreadID) { data[id.x] = sin(data[id.x]) * 2.0; }
"""
SUM = """
RWStructuredBuffer<float> data;
groupshared float part[64];
[shader("compute")] [numthreads(64, 1, 1)]
void sum(uint3 id : SV_DispatchThreadID, uint at : SV_GroupIndex)
{
    part[at] = data[id.x];
    GroupMemoryBarrierWithGroupSync();
    for (uint step = 32; step > 0; step >>= 1) {
        if (at < step)
            part[at] += part[at + step];
        GroupMemoryBarrierWithGroupSync();
    }
    if (at == 0)
        data[id.x] = part[0];
}
"""
BROKEN = SCALE.replace("* 2.0", "+ undeclared")

place = os.path.dirname(importlib.util.find_spec("slangpy").origin)
slang = ctypes.CDLL(glob.glob(os.path.join(place, "libslang-compiler.so*"))[0])
for name in ("spCreateSession", "spCreateCompileRequest", "spGetEntryPointCode"):
    getattr(slang, name).restype = ctypes.c_void_p
slang.spGetDiagnosticOutput.restype = ctypes.c_char_p
session = ctypes.c_void_p(slang.spCreateSession(None))


def compile_shader(what, source, entry):
    path = what + ".slang"
    with open(path, "w") as file:
        file.write(source)
    request = ctypes.c_void_p(slang.spCreateCompileRequest(session))
    words = [word.encode() for word in (path, "-target", "ptx", "-entry", entry, "-stage", "compute")]
    slang.spProcessCommandLineArguments(request, (ctypes.c_char_p * len(words))(*words), len(words))
    with report.compiling():
        code = slang.spCompile(request)
    report.text(what, (code, slang.spGetDiagnosticOutput(request).decode()).__repr__())
    if code == 0:
        size = ctypes.c_size_t()
        bytes_at = slang.spGetEntryPointCode(request, 0, ctypes.byref(size))
        report.product(f"{what} PTX", ctypes.string_at(bytes_at, size.value))
    slang.spDestroyCompileRequest(request)


report.begin("Slang", importlib.metadata.version("slangpy"), compiles=2)
with tempfile.TemporaryDirectory() as directory:
    os.chdir(directory)
    compile_shader("scale", SCALE, "scale")
    compile_shader("sum", SUM, "sum")
    compile_shader("broken", BROKEN, "scale")
report.end()
