# SPDX-License-Identifier: MIT
"""Warp: NVRTC is linked into its warp.so, hidden, where no preload can reach it. It must run as without us.

Modules are compiled ahead of time for an architecture, which needs no GPU.
"""
import os
import tempfile

import report
import warp as wp

wp.config.quiet = True


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


report.begin("Warp", wp.__version__, compiles=2, kept=0)
with tempfile.TemporaryDirectory() as place:
    for use_ptx in (True, False):
        with report.compiling():
            wp.compile_aot_module(__name__, arch=90, module_dir=place, use_ptx=use_ptx)
        made, = [name for name in sorted(os.listdir(place)) if name.endswith(".ptx" if use_ptx else ".cubin")]
        with open(os.path.join(place, made), "rb") as file:
            report.product(made, file.read())
report.end()
