# SPDX-License-Identifier: MIT
"""The sample program tests/apps/jit_lto.c, which is linked with NVRTC and nvJitLink as NVIDIA's samples are."""
import os
import subprocess

import report

report.begin("jit_lto", "-", compiles=3)
with report.compiling():
    done = subprocess.run([os.environ["CLIENT_PROGRAM"]], capture_output=True)
for line in done.stdout.splitlines() + done.stderr.splitlines():
    report.text("output", line)
report.text("exit code", str(done.returncode))
report.end()
