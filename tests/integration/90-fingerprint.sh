#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What finds a result in the memory of a process cannot be made to find another's.
. "$(dirname "$0")/lib.sh"
NVRTC=$FAKE/13/libnvrtc.so.13
[ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"

none='0 of 1024 sources were taken for another'
check "Sources that share a published hash are two to NVRTC." test "$("$BUILD/tests/hosts/collide" "$NVRTC")" = "$none"
distinct() {
	fresh_cache
	preloaded "$BUILD/tests/hosts/collide" "$NVRTC" >"$tmp/out"
	cat "$tmp/out"
	[ "$(cat "$tmp/out")" = "$none" ] && [ "$(stat_of stores)" = 2048 ]
}
check "Sources that were built to share a published hash get each their own result." distinct
plan
