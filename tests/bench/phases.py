#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Says where a disk hit of a fresh process spends its instructions: those of each step, with all that it calls.

usage: phases.py BUILD      environment: COUNTS_NVRTC (a library; default: the fake one of the tests)

Steps that are indented are part of the one above. Instructions (callgrind) include libc's and the loader's, unlike those of
counts.py. The last line has the microseconds of creation and compilation in 60 fresh processes: median and least.
"""
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROCESSES = 60
STEPS = (("look-ups of functions by dlsym", "dlsym_filter"),
         ("creation", "handle_nvrtcCreateProgram"),
         ("  set-up", "set_up_once"),
         ("  library of the call", "library_at"),
         ("compilation", "handle_nvrtcCompileProgram"),
         ("  modules that were loaded since", "modules_settle"),
         ("  request", "request_describe"),
         ("    environment", "environment_values"),
         ("    environment at the start", "environment_unchanged"),
         ("  look-up", "look_up"),
         ("    digest of the key", "digest_key"),
         ("    libnvrtc-builtins", "identity_companion"),
         ("      among loaded objects", "find_loaded"),
         ("      on disk", "loader_search"),
         ("  record", "event_tell"))

build = os.path.abspath(sys.argv[1])
life = os.path.join(build, "tests", "life")
nvrtc = os.environ.get("COUNTS_NVRTC") or os.path.join(build, "tests", "fake", "13", "libnvrtc.so.13")
top = tempfile.mkdtemp(prefix="nvrtccache-phases-", dir="/tmp")
environment = {"PATH": os.environ["PATH"], "HOME": top, "LC_ALL": "C", "NVRTCCACHE_DIR": os.path.join(top, "cache"),
               "LD_PRELOAD": os.path.join(build, "libnvrtccache.so")}


def run(*command):
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def microseconds():
    first = run(life, nvrtc, "trivial", "1").split()
    return (int(first[1]) + int(first[2])) / 1000


def inclusive():
    out = os.path.join(top, "callgrind")
    run("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", life, nvrtc, "trivial", "1")
    listing = run("callgrind_annotate", "--inclusive=yes", "--threshold=100", "--auto=no", out)
    return {name: int(cost.replace(",", ""))
            for cost, name in reversed(re.findall(r"^\s*([\d,]+) \([^)]*\) .*:(\w+)[^ ]* \[.*libnvrtccache\.so\]$", listing, re.M))}


try:
    microseconds()  # stores the entry
    times = [microseconds() for _ in range(PROCESSES)]
    costs = inclusive()
    for title, function in STEPS:
        print(f"{title:36}{costs.get(function, 0):10,}")
    print(f"microseconds: {statistics.median(times):.0f}, at least {min(times):.0f}")
finally:
    shutil.rmtree(top)
