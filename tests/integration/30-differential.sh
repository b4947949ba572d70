#!/bin/bash
# needs: nvrtc
# weight: 540
# The case files of NVRTC in tests/cases, each compared plain, cold, warm and verified; 29-linkers.sh has the others.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export CUDA_INCLUDE NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/differential.py "$1" "$PWD"/tests/cases/[0-9][0-9]-*.case
