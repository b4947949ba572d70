#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# weight: 15
# Random options before others in one process: what the library would keep must be what the last gives alone. `make
# sticky` plays every option that this NVRTC knows, with its values; `make spoilers` plays random ones for longer.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
export BUILD
count=${SPOILERS_COUNT:-3} seed=${SPOILERS_SEED:-1}
if scripts/sticky --library "$NVRTC_LIB/$NVRTC_SONAME" --random "$count" --seed "$seed" >"$tmp/out" 2>&1; then
	ok "Options of $count random processes leave later compiles alone (seed $seed)."
else
	not_ok "Options of $count random processes leave later compiles alone (seed $seed)." "$tmp/out"
fi
plan
