#!/bin/bash
# needs: nvrtc
# weight: 60
# Random sessions of programs that share precompiled headers (tests/cases/random_tests.py); `make pch` for long runs.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/random_tests.py pch "$1"
