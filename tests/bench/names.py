#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What many name expressions cost: a program with COUNT instances of a template, compiled by NVRTC alone and as a hit.

usage: names.py BUILD COUNT...      environment: NVRTC_LIB (the library)
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


def client(count):
    nvrtc = ctypes.CDLL(os.environ["NVRTC_LIB"])
    program, lowered = ctypes.c_void_p(), ctypes.c_char_p()
    names = [f"k<{n}>".encode() for n in range(count)]
    source = b"template <int N> __global__ void k(float *p) { p[N] = 1; }\n"
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None) == 0
    marks = [time.thread_time_ns()]
    for name in names:
        assert nvrtc.nvrtcAddNameExpression(program, name) == 0
    marks.append(time.thread_time_ns())
    assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0
    marks.append(time.thread_time_ns())
    for name in names:
        assert nvrtc.nvrtcGetLoweredName(program, name, ctypes.byref(lowered)) == 0
    marks.append(time.thread_time_ns())
    print(json.dumps([later - earlier for earlier, later in zip(marks, marks[1:])]))


def measure(build, counts, top):
    cached = dict(os.environ, LD_PRELOAD=os.path.join(build, "libnvrtccache.so"), NVRTCCACHE_DIR=os.path.join(top, "cache"))
    print(f"{'name expressions, ms':<28}{'add':>10}{'compile':>12}{'lowered':>10}")
    for count in counts:
        def run(environment):
            done = subprocess.run([sys.executable, __file__, "--client", str(count)], env=environment, check=True,
                                  capture_output=True, text=True)
            return [number / 1e6 for number in json.loads(done.stdout)]

        run(cached)
        for name, environment in ((f"{count:,}, NVRTC", dict(os.environ)), (f"{count:,}, hit", cached)):
            times = run(environment)
            print(f"{name:<28}{times[0]:>10.1f}{times[1]:>12.1f}{times[2]:>10.1f}")


if sys.argv[1] == "--client":
    client(int(sys.argv[2]))
else:
    place = tempfile.mkdtemp(prefix="nvrtccache-names-")
    try:
        measure(os.path.abspath(sys.argv[1]), [int(count) for count in sys.argv[2:]], place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
