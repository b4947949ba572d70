#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# weight: 400
# Real clients from PyPI (cuda.bindings, cuda.core, CuPy, tinygrad, numba-cuda) and a sample give the same without the cache, with a
# cold one and with a warm one, and the warm one has all that can be kept; verified, none of it differs. They are fetched
# once, into build/clients.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
scripts/clients --tap --quick "$BUILD"
