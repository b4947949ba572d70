# SPDX-License-Identifier: MIT
"""cuda.compute of CCCL: algorithms built ahead of time for another machine's GPU. Its C++ part is linked to NVRTC, its
iterators go through cuda.core. It asks for the driver's library to start, so without a driver a stub stands in.
"""
import importlib.metadata

import numpy
import report
from cuda.compute import CountingIterator, OpKind, ProxyArray, make_reduce_into


def built(what, make, **arguments):
    with report.compiling():
        algorithm = make(compute_capability=int(report.ARCH), **arguments)
    report.product(what, algorithm.serialize())


report.begin("cuda.compute", importlib.metadata.version("cuda-cccl"), compiles=6, unverified=2)
built("sum", make_reduce_into, d_in=ProxyArray(numpy.float32), d_out=ProxyArray(numpy.float32), op=OpKind.PLUS,
      h_init=numpy.zeros(1, numpy.float32))
built("maximum of an iterator", make_reduce_into, d_in=CountingIterator(numpy.int64(3)), d_out=ProxyArray(numpy.int64),
      op=OpKind.MAXIMUM, h_init=numpy.zeros(1, numpy.int64))
report.end()
