#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# NVRTCCACHE_VERIFY where the pid has other digits than the one of the process that made the result: NVRTC puts it into
# names without external linkage, and its length moves the lengths in mangled names. That is no mismatch.
. "$(dirname "$0")/lib.sh"
python3 -c 'import ctypes' 2>/dev/null || skip_all "no python3 with ctypes"
eval "$(cd "$(dirname "$0")/../.." && scripts/nvrtc-env)" || exit 1
# a namespace of users has no rights on what another one keeps to himself
for unshare in 'unshare -p -f' 'unshare -U -r -p -f' ''; do
	$unshare test -r "$NVRTC_LIB/$NVRTC_SONAME" -a -r "$LIBRARY" 2>/dev/null && break
done
[ -n "$unshare" ] || skip_all "no process namespace that can read NVRTC can be made here, and so no pid chosen"

cat >"$tmp/host.py" <<'PY'
import ctypes, os, sys
nvrtc = ctypes.CDLL(sys.argv[1])
program, size = ctypes.c_void_p(), ctypes.c_size_t()
options = (ctypes.c_char_p * (len(sys.argv) - 3))(*map(str.encode, sys.argv[3:]))
nvrtc.nvrtcCreateProgram(ctypes.byref(program), sys.argv[2].encode(), b"kernel.cu", 0, None, None)
nvrtc.nvrtcAddNameExpression(program, b"k<int>")
code = nvrtc.nvrtcCompileProgram(program, len(options), options)
nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
text = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetPTX(program, text)
sys.exit(code or f"_{os.getpid()}".encode() not in text.value and "the pid is in no name")
PY

# No name with external linkage, which NVRTC would take instead of the pid.
source='namespace outer { namespace __4 { namespace {
__device__ int counter;
struct local { int v; };
template <class T> __device__ __noinline__ int twice(T t) { return t.v * 2 + counter++; }
} } }
static __device__ int own;
static __device__ __noinline__ int helper(int x) { return own += x; }
template <class T> __global__ void k(T *p) {
	using namespace outer::__4;
	*p = twice(local{*p}) + helper(3) + (long long)&counter;
}'

# The verifying process is the first of its namespace, 1; the other's number has more digits.
judged() { # option...
	local host=(python3 "$tmp/host.py" "$NVRTC_LIB/$NVRTC_SONAME" "$source" "$@")
	fresh_cache
	preloaded "${host[@]}" && [ "$(stat_of stores)" = 1 ] || return
	# shellcheck disable=SC2086 # a command of words
	NVRTCCACHE_VERIFY=1 NVRTCCACHE_LOG=$tmp/log preloaded $unshare "${host[@]}" || return
	[ "$(stat_of verified) $(stat_of errors.mismatch) $(stat_of verify_uncompared)" = "1 0 1" ] ||
		{ echo "$(stat_of verified) verified, $(stat_of errors.mismatch) mismatches" && cat "$tmp/log" && false; }
}
check "PTX whose names hold a pid of other length cannot be compared." judged -default-device
check "Nor can a CUBIN, whose sections the names move." judged -arch=sm_90
check "Nor can one with lines." judged -arch=sm_90 -lineinfo
check "Nor can one with debug information." judged -arch=sm_90 -G
check "Nor can one that is to be linked." judged -arch=sm_90 -rdc=true
plan
