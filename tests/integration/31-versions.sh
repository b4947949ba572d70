#!/bin/bash
# needs: nvrtc
# What interpose/nvrtc/versions.h and functions.h beside it say of releases, asked of this one.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
exec python3 tests/cases/versions.py "$NVRTC_LIB/$NVRTC_SONAME"
