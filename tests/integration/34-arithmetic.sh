#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# NVRTC folds constants with the host's mathematics library: results of one library are not for hosts of another.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
other=$BUILD/tests/fixtures/libother_libm.so
case_file=$tmp/fold.case

write_case() { # expression
	printf '%s\n' '=== One kernel.' 'source <<' "extern \"C\" __global__ void k(double *p) { p[0] = $1; }" END create \
		'compile -arch=sm_90' all destroy >"$case_file"
}

play() { # name, other preload; the first round alone
	rm -rf "$tmp/work"
	mkdir "$tmp/work"
	env ${3:-} LD_PRELOAD="$2" NVRTCCACHE_MEM_SIZE=0 "$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/work" "$case_file" |
		sed '/^round 2/,$d' >"$tmp/$1"
}

differ() { ! cmp -s "$1" "$2"; }

write_case 'sin(1.0) + pow(1.5, 2.5)'
play plain ''
play plain-other "$other"
if cmp -s "$tmp/plain" "$tmp/plain-other"; then
	skip "Results of one mathematics library are not for hosts of another." "this NVRTC folds with no host library"
	plan
fi
fresh_cache
play cold "$LIBRARY"
play other-late "$LIBRARY $other"
check "Where NVRTC is bound late, a host with another mathematics library gets what NVRTC makes with it." cmp \
	"$tmp/plain-other" "$tmp/other-late"
fresh_cache
play cold "$LIBRARY"
play other-cold "$LIBRARY $other" LD_BIND_NOW=1
check "A host with another mathematics library gets what NVRTC makes with it." cmp "$tmp/plain-other" "$tmp/other-cold"
stores=$(stat_of stores) hits=$(stat_of hits_disk)
play other-warm "$other $LIBRARY" LD_BIND_NOW=1
play warm "$LIBRARY"
check "Both are kept side by side, and each host hits its own." test \
	"$(stat_of stores) $(stat_of hits_disk)" = "$stores $((hits + 4))"
check "The hit with the other library is what NVRTC makes with it." cmp "$tmp/plain-other" "$tmp/other-warm"
check "The hit with the first library is what NVRTC makes with that." cmp "$tmp/plain" "$tmp/warm"
play bound "$LIBRARY" LD_BIND_NOW=1
check "A function bound when NVRTC was loaded is the function that is bound at its first call." test \
	"$(stat_of stores) $(stat_of hits_disk)" = "$stores $((hits + 6))"

write_case 'p[1] * 2.5'
fresh_cache
play cold "$LIBRARY"
play other-warm "$LIBRARY $other"
check "A kernel without such constants hits whatever the library is." test "$(stat_of stores) $(stat_of misses)" = "1 1"
plan
