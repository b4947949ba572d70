#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# NVRTCCACHE_VERIFY and LTO-IR: it is sealed, so that two that differ in a module id differ all over, and cannot be
# compared.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
NVRTC=$FAKE/13/libnvrtc.so.13
[ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
python3 -c 'import ctypes' 2>/dev/null || skip_all "no python3 with ctypes"

# host LIBRARY WHIM SOURCE NAME OPTION...: one program; prints what it is given, but for the LTO-IR itself
cat >"$tmp/host.py" <<'PY'
import ctypes, sys
nvrtc = ctypes.CDLL(sys.argv[1])
if sys.argv[2]:
    (ctypes.c_char * 16).in_dll(nvrtc, "fakeNvrtcWhim").value = sys.argv[2].encode()
program, lowered, size = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_size_t()
options = (ctypes.c_char_p * (len(sys.argv) - 5))(*map(str.encode, sys.argv[5:]))
nvrtc.nvrtcCreateProgram(ctypes.byref(program), sys.argv[3].encode(), b"kernel.cu", 0, None, None)
nvrtc.nvrtcAddNameExpression(program, sys.argv[4].encode())
print("code", nvrtc.nvrtcCompileProgram(program, len(options), options))
nvrtc.nvrtcGetLTOIRSize(program, ctypes.byref(size))
text = ctypes.create_string_buffer(size.value)
print("LTO-IR", nvrtc.nvrtcGetLTOIR(program, text), text.raw[:4])
print("names", nvrtc.nvrtcGetLoweredName(program, sys.argv[4].encode(), ctypes.byref(lowered)), lowered.value)
PY
counted() { # verified mismatches uncompared
	local is
	is="$(stat_of verified) $(stat_of errors.mismatch) $(stat_of verify_uncompared)"
	[ "$is" = "$*" ] || { echo "verified, mismatches, not comparable: $is" && cat "$tmp/log" && false; }
}
judged() { # whim of the result, whim of NVRTC under verify, verified mismatches uncompared
	local source='__global__ void k() {}'
	fresh_cache
	: >"$tmp/log"
	preloaded python3 "$tmp/host.py" "$NVRTC" "$1" "$source" k -dlto >/dev/null && [ "$(stat_of stores)" = 1 ] || return
	NVRTCCACHE_VERIFY=1 NVRTCCACHE_LOG=$tmp/log preloaded python3 "$tmp/host.py" "$NVRTC" "$2" "$source" k -dlto \
		>"$tmp/given" && shift 2 && counted "$@"
}
check "LTO-IR that is the same is no difference." judged seal seal 1 0 0
check "LTO-IR that differs is counted as not comparable." judged seal 'seal other' 1 0 1
check "Different lowered names are a difference even if LTO-IR cannot be compared." judged seal 'seal other,names' 1 1 0
check "LTO-IR in the open is compared as it is." judged none 'seal other' 1 1 0
shown() {
	judged seal 'seal other' 1 0 1 && gives 0 stats && ! out_has '^  mismatch ' >/dev/null && out_has '^Verify uncompared +1$'
}
check "stats shows how many could not be compared." shown

real() { # verified mismatches uncompared; then the source and the name of its kernel
	local expected=$1 library=$NVRTC_LIB/$NVRTC_SONAME source=$2 name=$3
	fresh_cache
	: >"$tmp/log"
	local options=(-dlto -rdc=true -default-device)
	for each in $CUDA_INCLUDE; do options+=("-I$each" "-I$each/cccl"); done
	preloaded python3 "$tmp/host.py" "$library" '' "$source" "$name" "${options[@]}" >"$tmp/given" &&
		[ "$(stat_of stores)" = 1 ] || { cat "$tmp/given" && return 1; }
	sleep 1 # module ids are made of the second
	# shellcheck disable=SC2086 # three numbers
	NVRTCCACHE_VERIFY=1 NVRTCCACHE_LOG=$tmp/log preloaded python3 "$tmp/host.py" "$library" '' "$source" "$name" \
		"${options[@]}" >/dev/null && counted $expected
}
block_reduce='#include <cub/block/block_reduce.cuh>
template <class T> __global__ void k(T *p) {
	using reduce = cub::BlockReduce<T, 128>;
	__shared__ typename reduce::TempStorage storage;
	*p = reduce(storage).Sum(*p);
}'
eval "$(cd "$(dirname "$0")/../.." && scripts/nvrtc-env 2>/dev/null)"
none='a text without external linkage has LTO-IR that cannot be compared'
if [ -z "${NVRTC_LIB:-}" ] || ! nm -D "$NVRTC_LIB/$NVRTC_SONAME" 2>/dev/null | grep -q 'nvrtcGetLTOIR\b'; then
	skip "With NVRTC, $none." "no NVRTC here that makes LTO-IR"
else
	check "With NVRTC, LTO-IR of a text with external linkage is compared." real '1 0 0' \
		'extern "C" __global__ void f(int *p) { *p = 91; }' f
	needs "no CUB here" [ -e "${CUDA_INCLUDE%% *}/cccl/cub/block/block_reduce.cuh" ]
	check_there "With NVRTC, $none." real '1 0 1' "$block_reduce" 'k<float>'
fi
plan
