#!/bin/bash
# needs: nvrtc
# What interpose/nvrtc_versions.h and nvrtc_functions.h say of releases, asked of this one.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
exec python3 tests/cases/versions.py "$NVRTC_LIB/$NVRTC_SONAME"
