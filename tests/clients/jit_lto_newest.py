# SPDX-License-Identifier: MIT
"""The sample program tests/apps/jit_lto.c, built with the header of the package's nvJitLink: it imports the names of that release,
which no library exports."""
import glob
import importlib.metadata
import os
import subprocess

import device
import report

device.pretend(libraries=device.packages())
library = next(path for place in device.packages() for path in glob.glob(os.path.join(place, "libnvJitLink.so.*")))
soname = os.path.basename(library)
program = os.path.join(os.environ["TMPDIR"], "jit_lto")
subprocess.run(["cc", "-O2", "-std=gnu11", "-Wl,-z,now", "-DNVRTC_SONAME=\"libnvrtc.so." + soname.split(".")[-1] + "\"", f"-DNVJITLINK_SONAME=\"{soname}\"",
                "-I" + os.path.join(os.path.dirname(library), "..", "include"), "-isystem", os.environ["CUDA_INCLUDE"], "-o", program,
                os.path.join(os.path.dirname(__file__), "..", "apps", "jit_lto.c"), library,
                next(path for place in os.environ["LD_LIBRARY_PATH"].split(":") for path in glob.glob(os.path.join(place, "libnvrtc.so.??")))],
               env={**os.environ, "LD_PRELOAD": ""}, check=True)
report.begin("jit_lto", importlib.metadata.version("nvidia-nvjitlink"), compiles=3)
with report.compiling():
    done = subprocess.run([program], capture_output=True)
for line in done.stdout.splitlines() + done.stderr.splitlines():
    report.text("output", line)
report.text("exit code", str(done.returncode))
report.end()
