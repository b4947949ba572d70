# SPDX-License-Identifier: MIT
"""jitify2: its own tests and its own preprocessor, unmodified. It opens libnvrtc by itself, compiles on purpose what fails
to learn which headers are missing, and then again with hundreds of headers in memory.

The tests want a GPU: tests/clients/pretend_device.c stands in for libcuda and libcudart up to the point where a kernel is
loaded, and keeps what would have been loaded. Nearly all of them compile before they fail there. Each test runs in a
process of its own, as some of them end theirs, as many at a time as there are processors. JITIFY_TESTS (default: all) of
them are drawn by JITIFY_SEED (default 1). Needs nvcc, NVTX's headers and GoogleTest (libgtest-dev).
"""
import os
import random
import re
import shutil

import report
import sources
from sources import CUDA_HOME, CUDA_INCLUDE, SOURCE, WORK

TESTS = os.path.join(WORK, "jitify2_test")
PREPROCESS = os.path.join(WORK, "jitify2_preprocess")
DEVICE = os.path.join(WORK, "device", "libcuda.so")
HEADER = os.path.join(SOURCE, "jitify2.hpp")
SKIP = {"Jitify2Test.LaunchLatencyBenchmark": "prints times", "Jitify2Test.CancelCompile": "stops a compile by the clock"}
LINKS_IDS = "Jitify2Test.CubBlockPrimitives"  # a link of what NVRTC makes with module ids


def build():
    device = os.path.join(sources.HERE, "pretend_device.c")
    stringify = os.path.join(WORK, "stringify")
    headers = os.path.join(WORK, "example_headers")
    second = os.path.join(WORK, "second_unit.cu")
    os.makedirs(os.path.dirname(DEVICE), exist_ok=True)
    os.makedirs(headers, exist_ok=True)
    sources.build(DEVICE, [device], ["cc", "-O1", "-shared", "-fPIC", "-Wl,-soname,libcuda.so", "-o", DEVICE, device])
    tool = os.path.join(SOURCE, "jitify2_preprocess.cpp")
    sources.build(PREPROCESS, [tool, HEADER], ["c++", "-std=c++17", "-O1", "-w", "-I" + CUDA_INCLUDE, "-o", PREPROCESS, tool,
                                               "-ldl", "-pthread"])
    tool = os.path.join(SOURCE, "stringify.cpp")
    sources.build(stringify, [tool], ["c++", "-O1", "-w", "-o", stringify, tool])
    with open(os.path.join(headers, "my_header1.cuh.jit"), "w") as file:
        file.write(sources.run([stringify, "example_headers/my_header1.cuh"], cwd=SOURCE).stdout)
    preprocess(WORK)
    with open(second, "w") as file:
        file.write('#include "jitify2.hpp"\n')
    tests = os.path.join(SOURCE, "jitify2_test.cu")
    nvcc = os.path.join(CUDA_HOME, "bin", "nvcc")
    made = os.path.join(WORK, "jitify2_test_kernels.cu.headers.jit.cpp")
    sources.build(TESTS, [tests, HEADER, device, made], [
        nvcc, "-cudart", "none", "-std=c++17", "-O0", "-w", "-I" + SOURCE, "-I" + WORK, "-DJITIFY_ENABLE_NVTX=1",
        f'-DCUDA_INC_DIR="{CUDA_INCLUDE}"', f'-DCUB_DIR="{CUDA_INCLUDE}/cccl"', "-Xcompiler", "-rdynamic", "-o", TESTS, tests,
        second, made, "-lgtest", "-lgtest_main", "-ldl", DEVICE])


def preprocess(place):
    """As jitify2's own build does it."""
    return sources.run([PREPROCESS, "-i", "--minify", "-o", place, "-s", "jitify2_test_kernels.cu.headers",
                        "jitify2_test_kernels.cu"], cwd=SOURCE)


def drawn():
    names, suite = [], ""
    for line in sources.run([TESTS, "--gtest_list_tests"], env=environment("/")).stdout.splitlines():
        if line.startswith("  "):
            names.append(suite + line.split()[0])
        elif line.endswith("."):
            suite = line
    names = [name for name in names if name not in SKIP]
    count = min(len(names), int(os.environ.get("JITIFY_TESTS", len(names))))
    return random.Random(int(os.environ.get("JITIFY_SEED", "1"))).sample(names, count)


def environment(images):
    return {**os.environ, "PRETEND_IMAGES": images,
            "LD_LIBRARY_PATH": os.environ["LD_LIBRARY_PATH"] + ":" + os.path.dirname(DEVICE)}


def one_test(name):
    images = os.path.join(os.getcwd(), "images-" + name)
    os.mkdir(images)
    done = sources.run([TESTS, "--gtest_filter=" + name], cwd=SOURCE, env=environment(images))
    text = re.sub(r"\([0-9]+ ms( total)?\)", "(T ms)", done.stdout + done.stderr)
    made = []
    for image in sorted(os.listdir(images)):
        with open(os.path.join(images, image), "rb") as file:
            made.append((f"{name}, image {image}", file.read()))
    shutil.rmtree(images)
    return name, f"exit {done.returncode}\n{text}", made


if sources.BUILDING:
    build()
else:
    names = drawn()
    report.begin("jitify2", sources.digest(HEADER)[:12], unverified=2 * (LINKS_IDS in names))
    with report.compiling():
        preprocessed = preprocess(os.getcwd())
    report.text("jitify2_preprocess", f"exit {preprocessed.returncode}\n{preprocessed.stdout}{preprocessed.stderr}")
    for made in sorted(file for file in os.listdir(os.getcwd()) if ".jit." in file):
        with open(made, "rb") as contents:
            report.product(made, contents.read())
    with report.compiling():
        results = sources.side_by_side(one_test, names)
    for test, said, images in results:
        report.text(test, said)
        for image in images:
            report.product(*image)
    report.end()
