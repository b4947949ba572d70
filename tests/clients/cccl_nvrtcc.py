# SPDX-License-Identifier: MIT
"""CCCL: the tests of libcu++ as its own test driver for NVRTC compiles them (nvrtcc, unmodified, linked to libnvrtc; lit would
call it in the same way), and the kernel of CUB's test of NVRTC. What is left out is the launch, which needs a GPU.

CCCL_TESTS (default 100) of the tests are drawn by CCCL_SEED (default 1). A process each, as many at a time as there are
processors. Some are not meant for NVRTC and fail: their logs must be the same too. Those of formatting are left out, which
NVRTC compiles for a minute each.
"""
import json
import os
import random

import report
import sources
from sources import CUDA_HOME, CUDA_INCLUDE, SOURCE, WORK

NVRTCC = os.path.join(WORK, "nvrtcc")
UTILITY = os.path.join(SOURCE, "libcudacxx", "test", "utils", "nvidia", "nvrtc")
TESTS = os.path.join(SOURCE, "libcudacxx", "test", "libcudacxx")
SLOW = os.path.join(TESTS, "std", "text")
OPTIONS = ["-gencode=arch=compute_90,code=sm_90", "-std=c++17", "-device-int128", "-DCCCL_ENABLE_ASSERTIONS",
           "-I" + os.path.join(SOURCE, "libcudacxx", "test", "support"), "-I" + CUDA_INCLUDE]
OPTIONS += ["-I" + os.path.join(SOURCE, part) for part in ("cub", "thrust", "libcudacxx/include")]


def build():
    inputs = [os.path.join(UTILITY, name) for name in ("nvrtcc.cpp", "nvrtcc_build.h", "nvrtcc_common.h", "nvrtcc_run.h")]
    library = os.environ["NVRTC_LIB"]
    sources.build(NVRTCC, inputs, ["c++", "-std=c++17", "-O1", "-w", "-I" + CUDA_INCLUDE, "-o", NVRTCC, inputs[0], "-L" + library,
                                   "-L" + os.path.join(CUDA_HOME, "lib64"), "-L" + os.environ["CUDA_STUB"], "-lnvrtc",
                                   "-lcudart", "-lcuda"])


def drawn():
    paths = sorted(os.path.join(place, name) for place, _, names in os.walk(TESTS) for name in names
                   if name.endswith(".pass.cpp") and not place.startswith(SLOW))
    count = min(len(paths), int(os.environ.get("CCCL_TESTS", "100")))
    return random.Random(int(os.environ.get("CCCL_SEED", "1"))).sample(paths, count)


def compile_test(path):
    name = os.path.relpath(path, TESTS)
    out = os.path.join(os.getcwd(), "out", name.replace("/", "+"))
    os.makedirs(out, exist_ok=True)
    done = sources.run([NVRTCC, "-x", "cu", path, "-c", "-o", out + "/test.o"] + OPTIONS)
    made = []
    for file in sorted(os.listdir(out)):
        with open(os.path.join(out, file), "rb") as contents:
            made.append((f"{name}: {file}", contents.read()))
        os.unlink(os.path.join(out, file))
    return name, f"exit {done.returncode}\n{done.stdout}{done.stderr}", made


if sources.BUILDING:
    build()
else:
    with open(os.path.join(SOURCE, "cccl-version.json")) as version:
        full = json.load(version)["full"]
    tests = drawn()
    report.begin("CCCL", full, compiles=len(tests), any_kept=True)
    with report.compiling():
        results = sources.side_by_side(compile_test, tests)
    for test, said, products in results:
        report.text(test, said)
        for product in products:
            report.product(*product)
    report.end()
