# SPDX-License-Identifier: MIT
"""cuda.compute of CCCL: a radix sort, built ahead of time as tests/clients/cuda_compute.py does it. Most of the time goes
into nvJitLink.
"""
import importlib.metadata

import numpy
import report
from cuda.compute import ProxyArray, SortOrder, make_radix_sort

report.begin("cuda.compute", importlib.metadata.version("cuda-cccl"), compiles=2, unverified=1)
with report.compiling():
    sort = make_radix_sort(d_in_keys=ProxyArray(numpy.int32), d_out_keys=ProxyArray(numpy.int32), d_in_values=None,
                           d_out_values=None, order=SortOrder.ASCENDING, compute_capability=int(report.ARCH))
report.product("radix sort", sort.serialize())
report.end()
