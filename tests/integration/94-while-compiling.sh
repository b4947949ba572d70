#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What another thread of the host changes while the compiler works: where no call of the compiler tells it, the request is
# made anew behind the compile and compared. And what it changed before.
. "$(dirname "$0")/lib.sh"
traps=$LOADER/traps
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$traps" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is

not_kept() { # NAME=VALUE
	fresh_cache
	preloaded "$traps" changed "$NVRTC" "$1" -arch=sm_90 --fake-sleep-ms=1500 >"$tmp/out" 2>&1
	[ "$(stat_of misses) $(stat_of stores) $(reason_of environment)" = '1 0 1' ] || { "$COMMAND" stats && false; }
}
kept() {
	fresh_cache
	preloaded "$traps" changed "$NVRTC" OF_NO_INTEREST=1 -arch=sm_90 --fake-sleep-ms=1500 >"$tmp/out" 2>&1
	[ "$(stat_of misses) $(stat_of stores)" = '1 1' ] || { "$COMMAND" stats && false; }
}
# A variable that NVRTC reads once, while it is loaded: what a host sets later is not what it obeys.
cat >"$tmp/late.py" <<'PY'
import ctypes, os, sys
if sys.argv[2]:
    os.environ[sys.argv[2]] = "late"
nvrtc, program = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"k.cu", 0, None, None)
nvrtc.nvrtcCompileProgram(program, 0, None)
PY
late() { # NAME, misses stores bypassed.environment
	fresh_cache
	preloaded python3 "$tmp/late.py" "$NVRTC" "$1"
	[ "$(stat_of misses) $(stat_of stores) $(reason_of environment)" = "$2" ] || { "$COMMAND" stats && false; }
}
if python3 -c 'import ctypes' 2>/dev/null; then
	check "A host that set no variable late has its result cached." late '' '1 1 0'
	check "If a variable that NVRTC read at load time was changed since, the compile is bypassed." late NV_NVVM_VERSION '0 0 1'
else
	skip "If a variable that NVRTC read at load time was changed since, the compile is bypassed." "no python3 with ctypes"
fi
check "If another thread sets the time zone meanwhile, no result is cached." not_kept TZ=Asia/Tokyo
check "An unlisted variable that the compiler does not read does no harm." kept
plan
