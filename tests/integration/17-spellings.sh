#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# How NVRTC takes every spelling of an include directory that tests/unit/option_spellings.h lists.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
command -v python3 >/dev/null || { echo '1..0 # SKIP no python3' && exit; }
exec python3 tests/cases/spellings.py "$NVRTC_LIB/$NVRTC_SONAME"
