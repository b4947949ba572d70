#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# Options of libNVVM that are taken for clear change nothing that the process makes later: asked of the toolkit's libNVVM.
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
if [ -z "$NVVM_LIB" ]; then
	echo '1..0 # SKIP the toolkit has no libNVVM'
	exit 0
fi
libdevice=$NVRTC_ROOT/nvvm/libdevice/libdevice.10.bc
[ -e "$libdevice" ] || libdevice=
exec python3 tests/nvvm/options.py "$NVVM_LIB" ${libdevice:+"$libdevice"}
