#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program whose compiles were hits is compiled for real when one misses; what came out of that is not taken for what the
# host was served.
. "$(dirname "$0")/lib.sh"
NVRTC=$FAKE/13/libnvrtc.so.13
[ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
python3 -c 'import ctypes' 2>/dev/null || skip_all "no python3 with ctypes"

# host WHIM OPTION...: one handle, compiled once with each option
cat >"$tmp/host.py" <<'PY'
import ctypes, sys
nvrtc = ctypes.CDLL(sys.argv[1])
(ctypes.c_char * 16).in_dll(nvrtc, "fakeNvrtcWhim").value = sys.argv[2].encode()
program = ctypes.c_void_p()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"k.cu", 0, None, None)
for option in sys.argv[3:]:
    print("code", nvrtc.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(option.encode())))
PY
host() { preloaded python3 "$tmp/host.py" "$NVRTC" "$@"; }

agreeing() {
	fresh_cache
	host none -arch=sm_90 && host none -arch=sm_90 -arch=compute_90 && [ "$(stat_of hits_disk) $(stat_of stores)" = '1 2' ]
}
check "A miss after a hit is cached if the replay gives the served result." agreeing
differing() {
	fresh_cache
	host none -arch=sm_90 && host CUBIN -arch=sm_90 -arch=compute_90 &&
		[ "$(stat_of hits_disk) $(stat_of stores) $(reason_of history)" = '1 1 1' ] || { "$COMMAND" stats && false; }
}
check "It is not cached if the replay leaves another result on the handle." differing
plan
