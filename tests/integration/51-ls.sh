#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What results say of themselves, and how the command lists it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
command -v python3 >/dev/null || skip_all "no python3"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
cd "$tmp" || exit 1

listed() { gives 0 ls "$@"; }
compile() { preloaded "$LIFE" "$NVRTC" trivial 0 "$@" >"$tmp/compiled" 2>&1; }

nothing() { mkdir -m 700 -p "$NVRTCCACHE_DIR" && listed && out_has "^$NVRTCCACHE_DIR has no entries\$" && listed --json && is 'told' '[]'; }
check "An empty cache says that it has no entries, and is an empty array." nothing

compile -arch=sm_90 -DN=4
one_line() {
	listed && [ "$(wc -l <"$tmp/out")" -eq 2 ] && head -n 1 "$tmp/out" | grep -q '^KEY  *COMPILER  *ARCH  *SAVES  *SIZE  *USED  *PROGRAM$' &&
		tail -n 1 "$tmp/out" | grep -qE '^[0-9a-f]{8}  NVRTC     13\.[0-9]+ +sm_90 .* ago +[^ ]+$' || { cat "$tmp/out" && false; }
}
check "A result has a line with its program, compiler, release and architecture." one_line
listed --json
key_is_the_file() {
	local key
	key=$(json 'told[0]["key"]')
	[ -s "$NVRTCCACHE_DIR/v1/${key:0:2}/${key:2}" ]
}
check "Its key is the name of its file." key_is_the_file
check "The options are there in order." is 'told[0]["options"]' "['-arch=sm_90', '-DN=4']"
check "So are compiler and architecture." is '[told[0][name] for name in ("compiler", "arch", "step")]' "['nvrtc', 'sm_90', None]"
check "And the program that had it compiled." is 'told[0]["made_by"]' life
check "Artifacts have the sizes that the getters returned." is 'all(size > 0 for size in told[0]["artifacts"].values()) and "PTX" in told[0]["artifacts"]' True
check "Nothing binds it to a directory." is 'told[0]["bound"]' '[]'
check "It holds no text of the source." test -z "$(grep -c 'extern' "$tmp/out" | grep -v '^0$')"

compile -arch=sm_80 -lineinfo
listed --json
check "What was used last comes first." is '[object["arch"] for object in told]' "['sm_80', 'sm_90']"
check "A result that is bound says to which directory." is 'told[0]["bound"]' "['$(pwd -P)']"
sorted_by() { listed --json --sort "$1" && is "[object['$2'] for object in told] == sorted((object['$2'] for object in told), reverse=True)" True; }
check "They can be sorted by what a hit saves." sorted_by saved cost_ns
check "And by size." sorted_by size bytes
bad_order() { gives 2 ls --sort color && err_has "ls: --sort: bad value 'color': it takes used, saved or size"; }
check "Another order is refused, and those that there are are named." bad_order

damaged() {
	local file
	file=$(find "$NVRTCCACHE_DIR" -type f -path '*/v1/??/*' -size +0 | head -n 1)
	printf 'X' | dd of="$file" bs=1 seek=200 conv=notrunc 2>/dev/null
	listed && [ "$(wc -l <"$tmp/out")" -eq 2 ] && grep -q 'left out: 1 damaged or untrusted file;' "$tmp/err"
}
check "A damaged file is left out, and counted." damaged
strange_names() {
	fresh_cache
	preloaded "$LIFE" "$NVRTC" trivial 0 "-DA=$(printf '\033[31m')" >/dev/null 2>&1
	listed && ! grep -q "$(printf '\033')" "$tmp/out" && listed --json && is 'told[0]["options"][0]' "$(printf -- '-DA=\033[31m')"
}
check "Bytes that command a terminal do not reach one, and JSON has them." strange_names
other_scripts() {
	fresh_cache
	preloaded python3 -c 'import ctypes, sys
nvrtc, program = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
for name in ("größe.cu", "Длинное-имя-" * 4 + "ядро.cu"):
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", name.encode("utf-8", "surrogateescape"), 0, None, None)
    nvrtc.nvrtcCompileProgram(program, 0, None)' "$NVRTC" && listed && out_has ' ago +größe\.cu$' && out_has ' ago +(Длинное-имя-){4}ядро\.cu$'
}
check "Names in other scripts are shown as they are." other_scripts
still_hits() { compile -arch=sm_90 -DN=4 && compile -arch=sm_90 -DN=4 && [ "$(stat_of hits_disk)" -ge 1 ]; }
check "Results that say what they are of are found as before." still_hits
plan
