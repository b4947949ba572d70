#!/bin/bash
# needs: nvrtc
# weight: 150
# Random sequences of calls, in front of NVRTC itself (tests/cases/random_tests.py); `make calls` for long runs.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/random_tests.py calls "$1"
