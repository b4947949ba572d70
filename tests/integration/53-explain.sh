#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `nvrtccache explain` with NVRTC, beyond tests/transcripts/explain.t: what JSON says of each difference, and the record.
# shellcheck disable=SC2016 # texts for others to expand
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
HERE=$(cd "$(dirname "$0")" && pwd)
eval "$("$HERE/../../scripts/nvrtc-env" 2>/dev/null)"
[ -n "${NVRTC_LIB:-}" ] || skip_all "no NVRTC: scripts/setup gets one"
command -v python3 >/dev/null || skip_all "no python3"
NVRTC=$NVRTC_LIB/$NVRTC_SONAME
export LD_LIBRARY_PATH=$RUN_PATH NVRTC CUDA_CACHE_DISABLE=1
cd "$tmp" || exit 1

compile() { preloaded python3 "$HERE/explain_host.py" "$@" >"$tmp/compiled" 2>&1 || { cat "$tmp/compiled" && false; }; }
explained() { gives 0 explain "$@"; }
# Of the last one: as `json` and `is` have it.
last_json() { explained --last --json && json "$1"; }
last_is() { explained --last --json && is "$@"; }
says() { # TEXT...: all of them, on standard output
	local text
	for text; do
		grep -qF -e "$text" "$tmp/out" || { echo "not there: $text" && cat "$tmp/out" "$tmp/err" && false; } || return
	done
}
last_says() { explained --last && says "$@"; }
# The first request, then the second in its turn; what the difference is called, now and before.
differs() { # REQUEST REQUEST WHAT NOW WAS
	local got
	fresh_cache
	compile "$1" && compile "$2" || return
	got=$(last_json '[(d["what"], d["now"], d["was"]) for d in told["differences"]]') || { cat "$tmp/err" && false; } || return
	[ "$got" = "[('$3', $4, $5)]" ] || { echo "$got" && explained --last && cat "$tmp/out" && false; } || return
	last_is 'told["outcome"], told["reason"], told["nearest"] != told["key"]' "('stored', 'different', True)"
}

hit_is_silent() {
	fresh_cache && compile '{}' && compile '{}' '{}' && [ "$(stat_of hits_disk) $(stat_of hits_memory)" = '1 1' ] && explained --last 9 --json && is 'len(told)' 1
}
check "Hits are counted and not explained." hit_is_silent
check "An option that is new." differs '{}' '{"options": ["-DN=4", "-w"]}' option "'-w'" None
check "Another program name." differs '{}' '{"name": "b.cu"}' 'program name' "'b.cu'" "'a.cu'"
check "An empty one is one." differs '{}' '{"name": ""}' 'program name' "''" "'a.cu'"
reordered() {
	fresh_cache && compile '{"options": ["-DN=4", "-Ia", "-Ib"]}' '{"options": ["-DN=4", "-Ib", "-Ia"]}' && last_is 'told["reason"], told["differences"]' "('different', [])" &&
		last_says "are in another order"
}
check "Another order of the options." reordered
check "A name expression." differs '{}' '{"names": ["t<1>"]}' 'name expression' "'t<1>'" None
check "A header in memory with another text." differs '{"headers": {"v.h": "int a;"}}' '{"headers": {"v.h": "int b;"}}' 'header v.h' None None
check "The rounding mode of the thread." differs '{}' '{"round": 1024}' 'rounding mode' None None

link_refused() { # LTO-IR is asked for and none is there: it fails before it has asked the environment for anything
	cat >link.py <<-'END'
		import ctypes, sys
		lib, handle = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
		call = lambda name: getattr(lib, "__nvJitLink" + name + "_13_0")
		options = (ctypes.c_char_p * 2)(b"-arch=sm_90", b"-lto")
		text = b".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(){ret;}\n"
		assert call("Create")(ctypes.byref(handle), 2, options) == 0 and call("AddData")(handle, 2, text, len(text) + 1, None) == 0
		assert call("Complete")(handle) != 0
	END
	fresh_cache && preloaded python3 link.py "$1" && last_says 'NOT CACHED: return_code' 'return code 5'
}
nvjitlink=$(find -L "$NVRTC_LIB" -maxdepth 1 -name libnvJitLink.so.13 2>/dev/null)
lacks=
[ -n "$nvjitlink" ] && grep -q __nvJitLinkCreate_13_0 "$nvjitlink" || lacks="no nvJitLink 13"
check_there "A link that fails before it asks for anything is no link that was not watched." link_refused "$nvjitlink"
bypassed() { # one handle, which is refused once
	fresh_cache
	cat >again.py <<-'END'
		import ctypes, os
		lib, program = ctypes.CDLL(os.environ["NVRTC"]), ctypes.c_void_p()
		lib.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"a.cu", 0, None, None)
		for i in range(34):
		    lib.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-DN=%d" % (i % 2)))
	END
	preloaded python3 again.py && last_says 'BYPASSED: history' 'Create a new handle' && last_is 'told["outcome"], told["reason"], told["key"]' "('bypassed', 'history', None)"
}
check "What was bypassed, and why." bypassed

refused() { compile '{"options": ["-DN=sizeof(__TIME__)"]}' '{"options": ["-DN=sizeof(__TIME__)"]}' && last_says 'the same request was compiled before,' 'and not cached: time_macros'; }
check "The last refusal of the same request." refused
several() { explained --last --json && newest=$(json 'told["key"]') && explained --last 5 --json && is 'len(told), told[0]["key"]' "(5, '$newest')"; }
check "The last five are an array, the newest first." several
too_long() { # more options than a record has room for: what is not recorded is not reported as gone
	local options
	options=$(printf ', "-DA_LONG_NAME_%04d=1"' {1..1200})
	fresh_cache && compile '{}' && compile "{\"options\": [\"-DN=4\"$options, \"-w\"]}" &&
		last_says 'closest cached entry' 'The record does not hold the whole request' && ! grep -q ' is gone' "$tmp/out"
}
check "A request that is too long to be noted in full says so." too_long
by_key() {
	fresh_cache && compile '{}' '{"options": ["-DN=8"]}' || return
	local key
	key=$(last_json 'told["key"]') && explained "${key:0:8}" && says '-DN=8   was -DN=4' && explained "${key^^}" && says '-DN=8' &&
		rm "$NVRTCCACHE_DIR/v1/events" && gives 1 explain "$key" && err_has "$key: no such miss or bypass is recorded"
}
check "A key is enough, while it is recorded." by_key
shared() {
	local requests=() newest i
	for i in {1..17}; do requests+=("{\"options\": [\"-DN=$i\"]}"); done # more than there are digits
	fresh_cache && compile "${requests[@]}" && explained --last 17 --json &&
		newest=$(json '[[a["key"], b["key"]] for a in told for b in told if a["key"][0] == b["key"][0] and a != b][0][0]') && explained "${newest:0:1}" --json && is 'told["key"]' "$newest"
}
check "Of several keys with the same first digits, the newest is explained." shared
hostile() {
	fresh_cache && compile "$(printf '{"name": "\\u001b[31m.cu", "options": ["-DN=\\u001b[32m4"]}')" && compile "$(printf '{"name": "\\u001b[31m.cu", "options": ["-DN=4"]}')" && explained --last && ! grep -q "$(printf '\033')" "$tmp/out" && says 'was -DN=?[32m4'
}
check "Bytes that command a terminal do not reach one." hostile

off() { fresh_cache && NVRTCCACHE_DISABLE=1 compile '{}' && [ "$(stat_of bypassed.disabled)" = 1 ] && gives 1 explain --last && grep -q 'no such miss or bypass is recorded' "$tmp/err"; }
check "Calls of one that is off are only counted." off
in_the_way() { fresh_cache && mkdir -p "$NVRTCCACHE_DIR/v1/events" && chmod -R go-rwx "$NVRTCCACHE_DIR" && compile '{}' && [ "$(cat compiled)" = 0 ] && "$COMMAND" stats --count --json | grep -q '"entries":1'; }
check "A directory in the record's place does not prevent caching." in_the_way
keeps_out() { fresh_cache && compile '{}' && "$COMMAND" prune --max-size 1G >/dev/null && "$COMMAND" clear >/dev/null && explained --last 9 && "$COMMAND" stats --count --json | grep -q '"entries":0' && "$COMMAND" ls | grep -q 'has no entries$'; }
check "Other commands leave the record alone, and do not count it." keeps_out
plan
