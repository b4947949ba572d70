#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What another thread of the host changes while the compiler works: where no call of the compiler tells it, the request is
# made anew behind the compile and compared.
# shellcheck disable=SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
traps=$LOADER/traps
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$traps" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is

not_kept() { # NAME=VALUE
	fresh_cache
	preloaded "$traps" changed "$NVRTC" "$1" -arch=sm_90 --fake-sleep-ms=1500 >"$tmp/out" 2>&1
	[ "$(stat_of misses) $(stat_of stores) $(stat_of bypassed.environment)" = '1 0 1' ] || { "$COMMAND" stats && false; }
}
kept() {
	fresh_cache
	preloaded "$traps" changed "$NVRTC" OF_NO_INTEREST=1 -arch=sm_90 --fake-sleep-ms=1500 >"$tmp/out" 2>&1
	[ "$(stat_of misses) $(stat_of stores)" = '1 1' ] || { "$COMMAND" stats && false; }
}
check "A time zone that another thread set meanwhile leaves no result behind." not_kept TZ=Asia/Tokyo
check "A variable that is in no key and that nobody asks for does no harm." kept
plan
