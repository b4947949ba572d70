#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# NVRTCCACHE_VERIFY: every hit is compiled for real too and compared. The fake NVRTC is made to answer otherwise than by its
# inputs, in one thing at a time, which is what a wrong hit would look like.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
NVRTC=$FAKE/13/libnvrtc.so.13
[ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
python3 -c 'import ctypes' 2>/dev/null || skip_all "no python3 with ctypes"

# host WHIM NAME [OPTION]: compiles one program and prints everything that it is given
cat >"$tmp/host.py" <<'PY'
import ctypes, sys
nvrtc = ctypes.CDLL(sys.argv[1])
if sys.argv[2] != "none":
    (ctypes.c_char * 16).in_dll(nvrtc, "fakeNvrtcWhim").value = sys.argv[2].encode()
program, lowered = ctypes.c_void_p(), ctypes.c_char_p()
texts = [b"-arch=sm_90", *map(str.encode, sys.argv[4:])]
options = (ctypes.c_char_p * len(texts))(*texts)
nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", sys.argv[3].encode(), 0, None, None)
nvrtc.nvrtcAddNameExpression(program, b"k")
print("code", nvrtc.nvrtcCompileProgram(program, len(texts), options))
for what in ("PTX", "CUBIN", "ProgramLog"):
    size = ctypes.c_size_t()
    getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value + 1)
    print(what, getattr(nvrtc, f"nvrtcGet{what}")(program, text), text.raw)
print("names", nvrtc.nvrtcGetLoweredName(program, b"k", ctypes.byref(lowered)), lowered.value)
PY
plain() { python3 "$tmp/host.py" "$NVRTC" "$@"; }
cached() { preloaded python3 "$tmp/host.py" "$NVRTC" "$@"; }
verified() { NVRTCCACHE_VERIFY=1 NVRTCCACHE_LOG=$tmp/log cached "$@"; }

# The result of an honest NVRTC is in a new cache.
begin() {
	fresh_cache
	rm -f "$tmp/log"
	cached none kernel.cu >"$tmp/honest" 2>&1 && [ "$(stat_of stores)" = 1 ]
}

counted() { # verified mismatches [uncompared]
	local is
	is="$(stat_of verified) $(stat_of errors.mismatch) $(stat_of verify_uncompared)"
	[ "$is" = "$1 $2 ${3:-0}" ] || { echo "verified, mismatches, not comparable: $is" && false; }
}

agreeing() {
	begin && verified none kernel.cu >"$tmp/out" 2>&1 && cmp "$tmp/honest" "$tmp/out" && counted 1 0 &&
		{ [ ! -s "$tmp/log" ] || { cat "$tmp/log" && false; }; }
}
check "A hit that agrees with NVRTC is counted as verified, and nothing is logged." agreeing

differing() { # whim, as the log calls it
	local key
	begin || return
	plain "$1" kernel.cu >"$tmp/real"
	! cmp -s "$tmp/honest" "$tmp/real" || { echo "NVRTC has no whim" && return 1; }
	verified "$1" kernel.cu >"$tmp/out" 2>&1
	diff "$tmp/real" "$tmp/out" && counted 1 1 || return
	key=$(sed -nE "s/^[0-9TZ:.-]+ nvrtccache\[[0-9]+\]: verify: mismatch: the cached $2 differs from that of NVRTC; key ([0-9a-f]{64}), program kernel\.cu$/\1/p" "$tmp/log")
	[ -n "$key" ] && [ "$(wc -l <"$tmp/log")" = 1 ] || { cat "$tmp/log" && return 1; }
	[ -f "$NVRTCCACHE_DIR/v1/${key:0:2}/${key:2}" ] || { echo "no entry of that key" && return 1; }
}
check "Another return code is counted and logged with key and program, and the host is given NVRTC's." differing code 'return code'
check "Another PTX is counted and logged with key and program, and the host is given NVRTC's." differing PTX PTX
check "Another CUBIN is counted and logged with key and program, and the host is given NVRTC's." differing CUBIN CUBIN
check "Another log is counted and logged with key and program, and the host is given NVRTC's." differing ProgramLog ProgramLog
check "Another lowered name is counted and logged with key and program, and the host is given NVRTC's." differing names 'lowered names'

split() {
	fresh_cache
	cached none kernel.cu --split-compile=2 >"$tmp/honest" && [ "$(stat_of stores)" = 1 ] &&
		verified PTX kernel.cu --split-compile=2 >"$tmp/out" && ! cmp -s "$tmp/honest" "$tmp/out" && counted 1 0 1
}
check "PTX of split compilation, which NVRTC chooses by addresses, cannot be compared." split

shown() {
	begin && verified PTX kernel.cu >/dev/null 2>&1 && verified none kernel.cu >/dev/null 2>&1 &&
		gives 0 stats && out_has '^Verified +2$' && out_has '^  mismatch +1$'
}
check "stats shows how many hits were verified and how many of them differed." shown

shown_zero() {
	begin && verified none kernel.cu >/dev/null 2>&1 &&
		gives 0 stats && out_has '^Verified +1$' && ! out_has '^  mismatch ' >/dev/null
}
check "stats shows that none differed." shown_zero

line_at_exit() {
	begin && NVRTCCACHE_STATS=1 NVRTCCACHE_VERIFY=1 cached CUBIN kernel.cu >/dev/null 2>"$tmp/err"
	grep -qE '; 1 verified, 1 mismatches;' "$tmp/err" || { cat "$tmp/err" && false; }
}
check "The line at exit says how many were verified and how many differed." line_at_exit

silent() {
	begin && NVRTCCACHE_VERIFY=1 cached PTX kernel.cu >/dev/null 2>"$tmp/err" && counted 1 1 &&
		{ [ ! -s "$tmp/err" ] || { cat "$tmp/err" && false; }; }
}
check "Without a log a difference is counted, and nothing is printed." silent

odd_name() {
	fresh_cache
	rm -f "$tmp/log"
	local name=$'two\nlines\r\x1b[2J'
	cached none "$name" >/dev/null && verified PTX "$name" >/dev/null && counted 1 1 || return
	if [ "$(wc -l <"$tmp/log")" != 1 ] || tr -d '\n' <"$tmp/log" | LC_ALL=C grep -q '[[:cntrl:]]'; then
		cat -v "$tmp/log"
		return 1
	fi
}
check "A program's name with control characters makes one line of plain text." odd_name
plan
