#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# From 12.9 on NVRTC has a cache of its own, in the driver, which forgets what ptxas said. A driver is not needed here to
# see whether NVRTC looks for one.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
command -v strace >/dev/null || skip_all "no strace"
strace -f -qq -o "$tmp/probe" true 2>/dev/null || skip_all "strace may not trace here"

play() { # name, preload, options of the compile; says how often the driver's library was looked for
	printf '%s\n' '=== One kernel.' 'source <<' 'extern "C" __global__ void k(int *p) { *p = 36; }' END create \
		"compile $3" code destroy >"$tmp/case"
	rm -rf "$tmp/work"
	mkdir "$tmp/work"
	strace -f -qq -e trace=open,openat -o "$tmp/trace" -E LD_PRELOAD="$2" -E NVRTCCACHE_MEM_SIZE=0 \
		"$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/work" "$tmp/case" >"$tmp/$1"
	grep -c 'libcuda\.so' "$tmp/trace"
}

verbose='-arch=sm_90 -Xptxas -v'
[ "$(play plain '' "$verbose")" != 0 ] || skip_all "this NVRTC has no cache of its own, or none that it looks for here"
fresh_cache
play cold "$LIBRARY" "$verbose" >/dev/null
check "A compile with the output of ptxas in its log is as without us." cmp "$tmp/plain" "$tmp/cold"
check "It is not cached, because the log depends on NVRTC's own cache." test "$(stat_of stores)" = 0
check "With --no-cache NVRTC has none." test "$(play plain-none '' "$verbose --no-cache")" = 0
play none "$LIBRARY" "$verbose --no-cache" >/dev/null
# once for each of two directories, because -Xptxas makes it path-dependent
check "Then it is cached." test "$(stat_of stores)" = 2
play warm "$LIBRARY" "$verbose --no-cache" >/dev/null
check "The hit is as without us." cmp "$tmp/plain-none" "$tmp/warm"
check "Other compiles take what NVRTC's own cache has." test "$(play silent "$LIBRARY" '-arch=sm_90 -DSILENT')" != 0
plan
