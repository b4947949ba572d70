#!/bin/bash
# needs: nvrtc
# weight: 150
# Random changes to trees of headers, in front of NVRTC itself (tests/cases/random_tests.py); `make edits` for long runs.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME
exec python3 tests/cases/random_tests.py edits "$1"
