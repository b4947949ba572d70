#!/bin/bash
# needs: nvrtc
# weight: 100
# Texts that hang on paths and on the clock, in front of NVRTC itself (tests/cases/random_tests.py); `make texts` for long
# runs.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/random_tests.py texts "$1"
