# SPDX-License-Identifier: MIT
"""numba-cuda (numba_cuda_launches.py) in a process that has loaded libcuvs, which is linked with nvJitLink by names of 13.3."""
import device

device.pretend(libraries=device.packages())
import libcuvs  # noqa: E402

libcuvs.load_library()
import numba_cuda_launches  # noqa: E402,F401
