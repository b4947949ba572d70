#!/bin/bash
# needs: nvrtc
# weight: 150
# Random sequences of calls of nvJitLink and libNVVM (tests/cases/random_tests.py); `make links` for long runs.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/random_tests.py links "$1"
