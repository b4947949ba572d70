# SPDX-License-Identifier: MIT
"""What scripts/clients --debug-paths runs, in one of two directories: programs whose results name paths.

    debug_paths.py jitify|lineinfo|named|checkout
"""
import os
import sys
import time

import kernels


def jitify():
    """CuPy gives jitify a new temporary directory in each process; each missing header is a failing compilation. jitify asks
    for the GPU when it warms up, so that is left out."""
    from cupy.cuda import compiler
    from cupy.cuda import jitify as cupy_jitify

    cupy_jitify._init_module = lambda: None
    compiler._get_arch_for_options_for_nvrtc = lambda arch=None: ("-DARCHITECTURE_IS_GIVEN", "cubin")
    source = "#include <cuda/std/type_traits>\n" + kernels.SAXPY
    compiler.compile_using_nvrtc(source, options=("-std=c++17", "-arch=sm_90", "-I" + os.environ["CUDA_INCLUDE"] + "/cccl"), arch="90", jitify=True)


def lineinfo(**name):
    """cuda.core writes the source to a temporary file with a random name, unless the program has one."""
    from cuda.core import Program, ProgramOptions

    Program(kernels.SAXPY, "c++", ProgramOptions(arch="sm_90", lineinfo=True, **name)).compile("cubin")


def named():
    lineinfo(name="saxpy.cu")


def checkout():
    """A program that compiles its own files with -lineinfo, in a fresh checkout."""
    from cuda.bindings import nvrtc

    with open("kernel.cuh", "w") as file:
        file.write("#define FACTOR 2\n")
    os.utime("kernel.cuh", (0, os.getpid()))
    time.sleep(0.1)  # a header as new as the compilation is not trusted
    source = b'#include "kernel.cuh"\nextern "C" __global__ void k(float *p) { p[0] *= FACTOR; }'
    _, program = nvrtc.nvrtcCreateProgram(source, os.getcwd().encode() + b"/kernel.cu", 0, None, None)
    options = [b"-arch=sm_90", b"-lineinfo", b"-I" + os.getcwd().encode()]
    result, = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if result != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        sys.exit(str(result))
    nvrtc.nvrtcDestroyProgram(program)


{"jitify": jitify, "lineinfo": lineinfo, "named": named, "checkout": checkout}[sys.argv[1]]()
