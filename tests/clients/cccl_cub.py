# SPDX-License-Identifier: MIT
"""CUB: the kernel of its own test of NVRTC (catch2_test_nvrtc.cu), taken from there as it is and compiled as there. The test
itself asks the device for the architecture before, and launches the kernel after: both need a GPU. One compile, of most
of CUB's and some of Thrust's headers.
"""
import ctypes
import json
import os
import re
import sys

import report
from sources import BUILDING, CUDA_INCLUDE, SOURCE

OPTIONS = ["-I" + os.path.join(SOURCE, part) for part in ("cub", "thrust", "libcudacxx/include")]
OPTIONS += ["-I" + CUDA_INCLUDE, "-arch=sm_90", "-std=c++17"]

if BUILDING:
    sys.exit(0)
with open(os.path.join(SOURCE, "cub", "test", "catch2_test_nvrtc.cu")) as file:
    kernel = re.search(r'R"asdf\((.*?)\)asdf"', file.read(), re.DOTALL).group(1).encode()
with open(os.path.join(SOURCE, "cccl-version.json")) as file:
    version = json.load(file)["full"]
nvrtc = ctypes.CDLL(os.path.join(os.environ["NVRTC_LIB"], "libnvrtc.so"))
program, size = ctypes.c_void_p(), ctypes.c_size_t()
options = (ctypes.c_char_p * len(OPTIONS))(*[word.encode() for word in OPTIONS])

report.begin("CUB", version, compiles=1)
nvrtc.nvrtcCreateProgram(ctypes.byref(program), kernel, b"test", 0, None, None)
with report.compiling():
    code = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), options)
report.text("return code", str(code))
for what in ("ProgramLog", "CUBIN"):
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    data = ctypes.create_string_buffer(size.value + 1)
    report.text(f"{what}'s return code", str(getattr(nvrtc, f"nvrtcGet{what}")(program, data)))
    report.product(what, data.raw[:size.value])
nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
report.end()
