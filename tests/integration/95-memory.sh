#!/bin/bash
# needs: nvrtc
# What the compilers read again of the host's memory after a call (tests/cases/memory.py), by a few cases of each;
# `make memory` plays all.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export CUDA_INCLUDE NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
cases=tests/cases
CASES='^(A CUBIN with an unresolved symbol, and PTX|PTX with an unresolved symbol, and a CUBIN|A symbol of PTX and of a CUBIN|'
CASES+='An unresolved symbol in PTX of a container, as library|A file with an unresolved symbol, as ptx, and PTX|'
CASES+='A header in memory is used|A bad expression fails|A syntax error, which Verify|numba: verified before)'
export CASES
exec python3 $cases/memory.py "$1" $cases/116-*.case $cases/122-*.case $cases/20-*.case $cases/40-*.case $cases/100-*.case $cases/102-*.case
