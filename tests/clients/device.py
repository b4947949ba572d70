# SPDX-License-Identifier: MIT
"""The driver that lets clients reach the point where they compile: tests/clients/pretend_device.c, built in $TMPDIR. It succeeds
for all who call it but the compilers, and keeps what would have been loaded.

    device.pretend("libcuda.so.1", "libcudart.so.13", NAME="value")     first of all: the process begins anew with it
    device.products("matmul")                                           what was loaded since, as lines of the report
"""
import glob
import os
import subprocess
import sys

import report

PLACE = os.environ["TMPDIR"]
IMAGES = os.path.join(PLACE, "images")


def packages():
    """The directories of libraries that the environment's packages brought."""
    return [place for path in sys.path for place in glob.glob(os.path.join(path, "nvidia", "*", "lib"))]


def pretend(*names, libraries=(), **variables):
    """`libraries` are found before all others."""
    if os.environ.get("PRETEND_IMAGES") == IMAGES:
        return
    os.makedirs(IMAGES)
    for name in names:
        subprocess.run(["cc", "-w", "-shared", "-fPIC", "-Wl,-soname," + name, "-o", os.path.join(PLACE, name),
                        os.path.join(os.path.dirname(__file__), "pretend_device.c")], env={**os.environ, "LD_PRELOAD": ""}, check=True)
        os.symlink(name, os.path.join(PLACE, name[:name.index(".so") + 3]))
    path = [PLACE, *libraries, os.environ.get("LD_LIBRARY_PATH", "")]
    os.environ.update(variables, PRETEND_IMAGES=IMAGES, PRETEND_LOADS="1", LD_LIBRARY_PATH=":".join(path))
    os.execv(sys.executable, [sys.executable, *sys.argv])


def products(name):
    for image in sorted(glob.glob(os.path.join(IMAGES, "*"))):
        with open(image, "rb") as file:
            report.product(name, file.read())
        os.unlink(image)
