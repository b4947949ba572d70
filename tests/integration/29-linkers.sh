#!/bin/bash
# needs: nvrtc
# weight: 200
# The case files of libNVVM and nvJitLink, 100 and later, as 30-differential.sh plays those of NVRTC.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export CUDA_INCLUDE NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/differential.py "$1" "$PWD"/tests/cases/[0-9][0-9][0-9]-*.case
