#!/bin/bash
# needs: nvrtc
# The case files of tests/cases, each compared plain, cold, warm and verified.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export CUDA_INCLUDE NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/differential.py "$1"
