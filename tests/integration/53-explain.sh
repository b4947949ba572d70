#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `nvrtccache explain`: for each cause of a miss, with NVRTC, what people and machines are told.
# shellcheck disable=SC2016,SC2317 # texts for others to expand; functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$(dirname "$0")/command.sh"
REPO=$(cd "$(dirname "$0")/../.." && pwd)
eval "$("$REPO/scripts/nvrtc-env" 2>/dev/null)"
[ -n "${NVRTC_LIB:-}" ] || skip_all "no NVRTC: scripts/setup gets one"
command -v python3 >/dev/null || skip_all "no python3"
NVRTC=$NVRTC_LIB/$NVRTC_SONAME
export LD_LIBRARY_PATH=$RUN_PATH NVRTC CUDA_CACHE_DISABLE=1
cd "$tmp" || exit 1

# A host: what it asks for is JSON. Prints the return code.
cat >host.py <<'END'
import ctypes, json, os, sys
lib = ctypes.CDLL(os.environ["NVRTC"])
def strings(list):
    return (ctypes.c_char_p * max(1, len(list)))(*[text.encode() for text in list])
for asked in sys.argv[1:]:
    asked = json.loads(asked)
    if "round" in asked:
        ctypes.CDLL("libm.so.6").fesetround(asked["round"])
    headers, options, program = asked.get("headers", {}), asked.get("options", ["-DN=4"]), ctypes.c_void_p()
    source = asked.get("source", '__global__ void k(int *p) { *p = N; }\ntemplate<int n> __global__ void t(int *p) { *p = n; }\n')
    assert lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), asked.get("name", "a.cu").encode(), len(headers),
                                  strings(list(headers.values())), strings(list(headers))) == 0
    for name in asked.get("names", []):
        assert lib.nvrtcAddNameExpression(program, name.encode()) == 0
    print(lib.nvrtcCompileProgram(program, len(options), strings(options)))
END
compile() { preloaded python3 "$tmp/host.py" "$@" >"$tmp/compiled" 2>&1 || { cat "$tmp/compiled" && false; }; }
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

first() { fresh_cache && compile '{}' && last_says 'a.cu (pid ' 'MISS, compiled ' ', stored as ' 'first time' && last_is 'told["reason"], told["nearest"], told["differences"]' "('first', None, [])"; }
check "The first miss of a program is its first time." first
hit_is_silent() {
	local before
	before=$(stat -c %s "$NVRTCCACHE_DIR/v1/journal")
	compile '{}' '{}' && [ "$(stat_of hits_disk) $(stat_of hits_memory)" = '1 1' ] && [ "$(stat -c %s "$NVRTCCACHE_DIR/v1/journal")" = "$before" ]
}
check "Hits are not noted." hit_is_silent
option() { compile '{"options": ["-DN=8"]}' && last_says 'closest cached entry: ' ' earlier. Same source, NVRTC.' '  option  -DN=8   was -DN=4'; }
check "A changed option is reported in readable form." option
check "An option that is new." differs '{}' '{"options": ["-DN=4", "-w"]}' option "'-w'" None
check "An option that is gone." differs '{"options": ["-DN=4", "-w"]}' '{}' option None "'-w'"
check "An option of two strings." differs '{"options": ["-DN=4", "-arch", "sm_90"]}' '{"options": ["-DN=4", "-arch", "sm_80"]}' option "'-arch sm_80'" "'-arch sm_90'"
check "The order of options." differs '{"options": ["-DN=4", "-Ia", "-Ib"]}' '{"options": ["-DN=4", "-Ib", "-Ia"]}' 'order of options' "'-Ib'" "'-Ia'"
long() {
	fresh_cache && local long && long=$(printf 'x%.0s' {1..900}) && compile "{\"options\": [\"-DN=4\", \"-DA=\\\"${long}one\\\"\"]}" "{\"options\": [\"-DN=4\", \"-DA=\\\"${long}two\\\"\"]}" &&
		last_says 'xxxxtwo"' 'was -DA="xxxx' 'xxxxone"' 'xxx...xxx'
}
check "Of options that are too long to be shown the difference is, and what is left out is marked." long
many() {
	local more
	more=$(printf ', "-DA%d"' {1..30}) && fresh_cache && compile '{}' "{\"options\": [\"-DN=4\"$more]}" && last_says 'and 10 more differences; --json has them all' && [ "$(grep -c ' is new$' "$tmp/out")" = 20 ] && last_is 'len(told["differences"])' 30
}
check "Very many differences are not all listed." many
check "Another program name." differs '{}' '{"name": "b.cu"}' 'program name' "'b.cu'" "'a.cu'"
check "An empty one is one." differs '{}' '{"name": ""}' 'program name' "''" "'a.cu'"
check "Its directory, where one has none." differs '{}' '{"name": "/tmp/w/a.cu"}' 'program name' "'/tmp/w/a.cu'" "'a.cu'"
check "Its directory, where one is relative." differs '{"name": "w/a.cu"}' '{"name": "/tmp/w/a.cu"}' 'program name' "'/tmp/w/a.cu'" "'w/a.cu'"
check "A name expression." differs '{}' '{"names": ["t<1>"]}' 'name expression' "'t<1>'" None
check "A name expression that was added twice, once." differs '{"names": ["t<1>", "t<1>"]}' '{"names": ["t<1>"]}' 'name expression' None "'t<1>'"
check "Another name expression." differs '{"names": ["t<1>", "t<2>"]}' '{"names": ["t<2>", "t<1>"]}' 'order of names' "'t<2>'" "'t<1>'"
check "Another source." differs '{}' '{"source": "__global__ void k() {}"}' source None None
source_words() { last_says 'source text is not stored, so the lines are not known'; }
check "It says that the changed lines are not known." source_words
check "A header in memory with another text." differs '{"headers": {"v.h": "int a;"}}' '{"headers": {"v.h": "int b;"}}' 'header v.h' None None
check "One more." differs '{"headers": {"v.h": "int a;"}}' '{"headers": {"v.h": "int a;", "w.h": ""}}' 'header w.h' None None
check "The rounding mode of the thread." differs '{}' '{"round": 1024}' 'arithmetic mode' None None

if [ -e "$FAKE/13/libnvrtc.so.13" ] && [ -e "$FAKE/13b/libnvrtc.so.13" ]; then
	builds() { # NAME NAME: of the two libraries' files
		rm -rf one other && cp -r "$FAKE/13" one && cp -r "$FAKE/13b" other && fresh_cache || return
		for build in "one/libnvrtc.so.13 $1" "other/libnvrtc.so.13 $2"; do
			# shellcheck disable=SC2086 # a path, and perhaps the name that it is a link to
			set -- $build
			[ -z "${2:-}" ] || { mv "$1" "${1%/*}/$2" && ln -s "$2" "$1"; } || return
			(unset LD_LIBRARY_PATH && NVRTC=$tmp/$1 compile '{}') || return
		done
	}
	other_build() { builds '' '' && last_says 'build of the compiler  NVRTC 13.0, or a library that it loads, is another build'; }
	check "Another build of NVRTC." other_build
	other_release() { builds libnvrtc.so.13.0.48 libnvrtc.so.13.0.88 && last_says 'compiler  NVRTC 13.0.88   was 13.0.48'; }
	check "By their numbers, where the files have them." other_release
else
	skip "Another build of NVRTC." "no fake NVRTC in $BUILD"
fi
namespace() { fresh_cache && compile '{}' && NVRTCCACHE_NAMESPACE=team compile '{}' && last_says '  namespace  is set, and was not'; }
check "A namespace." namespace
variable() { fresh_cache && compile '{}' && CUDA_CACHE_MAXSIZE=7 NVCC_APPEND_FLAGS=-w LIBNVVM_ENABLE_DEBUG=1 NVVM_IR_VER_CHK=0 compile '{}' && last_says '  variable ' 'is set, and was not'; }
check "A variable that the compiler reads." variable
switch='NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only'
place() {
	mkdir -p ci1 ci2 && fresh_cache && (cd ci1 && compile '{"options": ["-DN=4", "-lineinfo"]}') && (cd ci2 && compile '{"options": ["-DN=4", "-lineinfo"]}') &&
		last_says "  bound path  bound to $tmp/ci1 by -lineinfo; now it is $tmp/ci2" "  $switch" && last_is '[(d["what"], d["now"], d["was"]) for d in told["differences"]]' "[('bound path', '$tmp/ci2', '$tmp/ci1')]"
}
check "A result that is bound to a path, by which option." place
unloosened() { # paths of --pch, and another option
	fresh_cache && (cd ci1 && compile '{"options": ["--pch"]}') && (cd ci2 && compile '{"options": ["--pch"]}') && last_says 'bound path' && ! last_says "$switch" || return
	fresh_cache && (cd ci1 && compile '{"options": ["-lineinfo"]}') && (cd ci2 && compile '{"options": ["-lineinfo", "-DN=4"]}') && last_says 'bound path' && ! last_says "$switch"
}
check "The switch is named only where it would help." unloosened
named_path() { # its text is in the result
	mkdir -p r1 r2 && fresh_cache || return
	local place
	for place in r1 r2; do
		printf '#define HERE __FILE__\n' >"$place/h.h" && touch -d 2001-01-01 "$place/h.h"
		NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=info compile "{\"source\": \"#include <h.h>\\n__device__ const char *here() { return HERE; } __global__ void k(char *p) { *p = here()[*p]; }\", \"options\": [\"-I$tmp/$place\"]}" || return
	done
	last_says 'the same request was cached before' "  bound to $tmp/r1, a path that is in its artifacts; now it is $tmp/r2"
}
check "A path that is spelled in what was made." named_path
named_json() {
	last_is 'told["differences"]' "[{'what': 'bound path', 'now': '$tmp/r2', 'was': '$tmp/r1', 'words': 'bound to $tmp/r1, and now it is $tmp/r2'}]" &&
		grep -qF "(bound to $tmp/r1, and now it is $tmp/r2), " "$tmp/log"
}
check "As JSON, and in the log, it is the path too, and no number." named_json

build_bound() { # the same program in another directory, and one that is bound to none
	mkdir -p w1 w2 && fresh_cache && compile "{\"name\": \"$tmp/w1/a.cu\"}" "{\"name\": \"$tmp/w1/a.cu\", \"options\": [\"-DN=4\", \"-lineinfo\"]}" "{\"name\": \"$tmp/w2/a.cu\", \"options\": [\"-DN=4\", \"-lineinfo\"]}" &&
		last_is '[(d["what"], d["now"], d["was"]) for d in told["differences"]]' "[('program name', '$tmp/w2/a.cu', '$tmp/w1/a.cu')]" && last_says "$switch"
}
check "The same program elsewhere is nearer than one without the option that binds it." build_bound

# NVRTC 13.5 opens by its whole path what earlier releases open by a relative one.
REFUSAL='told["refusal"].replace(os.getcwd() + "/", "")'
H='{"source": "#include <h.h>\n__global__ void k(int *p) { *p = M; }", "options": ["-Iinc/first", "-Iinc"]}'
old() { printf '%s\n' "$2" >"$1" && touch -d "${3:-2001-01-01}" "$1" && sleep 0.1; }
header() {
	fresh_cache && mkdir -p inc/first && old inc/h.h '#define M 1' && compile "$H" && old inc/h.h '#define M 2' 2001-01-02 && compile "$H" &&
		last_says 'the same request was cached before' 'header changed: inc/h.h' && last_is 'told["reason"], told["key"] == told["nearest"], told["differences"][0]["what"], told["differences"][0]["now"]' "('stale', True, 'header changed', 'inc/h.h')"
}
check "A header on disk that changed, by its path." header
appeared() { old inc/first/h.h '#define M 3' && compile "$H" && last_says 'file appeared: inc/first/h.h'; }
check "One that appeared in front of it." appeared
gone_header() { rm inc/first/h.h && old inc/h.h '#define M 9' && compile "$H" && last_says 'the same request was cached before'; }
check "One that is gone again." gone_header

edited_again() { # of several results of the request, the one of which the least has changed is told, not the newest
	local request='{"source": "#include <a.h>\n#include <b.h>\n__global__ void k(int *p) { *p = A + B; }", "options": ["-Ibranch"]}'
	fresh_cache && mkdir -p branch && old branch/a.h '#define A 1' && old branch/b.h '#define B 1' && compile "$request" && # one branch,
		old branch/a.h '#define A 2' 2001-01-02 && compile "$request" && last_says 'header changed: branch/a.h' && # another,
		old branch/a.h '#define A 1' && old branch/b.h '#define B 2' 2001-01-02 && compile "$request" && last_says 'header changed: branch/b.h' # and work on the first
}
check "Of several results the closest is reported." edited_again
moved_roots() { # no header was edited, and the key is the same
	local source='"source": "#include <h.h>\n__global__ void k(int *p) { *p = M; }"' swapped
	swapped="[('option', '-I$tmp/ia', '-I$tmp/ib'), ('option', '-I$tmp/ib', '-I$tmp/ia')]"
	fresh_cache && mkdir -p ia ib && old ia/h.h '#define M 1' && old ib/h.h '#define M 2' && compile "{$source, \"options\": [\"-I$tmp/ib\", \"-I$tmp/ia\"]}" "{$source, \"options\": [\"-I$tmp/ia\", \"-I$tmp/ib\"]}" &&
		last_says "header changed: $tmp/ia/h.h" "  option  -I$tmp/ia   was -I$tmp/ib" && last_is '[(d["what"], d["now"], d["was"]) for d in told["differences"][1:]]' "$swapped"
}
check "If it was found through another -I, that is reported too." moved_roots

gone() { fresh_cache && compile '{}' && "$COMMAND" clear >/dev/null && compile '{}' && last_says 'cached at ' ', and gone since (evicted, cleared, damaged, or no longer trusted)' && last_is 'told["reason"]' gone; }
check "A result that was cached once and is gone." gone
damaged() {
	printf X | dd of="$(find "$NVRTCCACHE_DIR" -path '*/v1/??/??*' -type f ! -path '*/stats/*' | head -n 1)" bs=1 seek=60 conv=notrunc 2>/dev/null && compile '{}' &&
		last_is 'told["reason"]' gone
}
check "And one that was damaged." damaged
changed_history() { # what a record says must not change with what is kept
	local told
	fresh_cache && compile '{}' '{"options": ["-DN=8"]}' && explained --last --json && is 'told["nearest_is"]' kept && told=$(json '[told["cause"], told["nearest"], told["differences"]]') &&
		"$COMMAND" clear >/dev/null && last_is '[told["cause"], told["nearest"], told["differences"]]' "$told" && is 'told["nearest_is"]' gone &&
		last_says 'closest cached entry: ' ' earlier, and gone since. Same source, NVRTC.' 'option  -DN=8   was -DN=4'
}
check "The closest entry is still reported after it is gone, as gone." changed_history
below() {
	fresh_cache && compile '{}' && local NVRTCCACHE_LOWER=$NVRTCCACHE_DIR && export NVRTCCACHE_LOWER && fresh_cache && compile '{"options": ["-DN=8"]}' &&
		last_says 'in a directory of NVRTCCACHE_LOWER. Same source' '-DN=8   was -DN=4' && last_is 'told["nearest_is"]' kept_below
}
check "The closest entry may be in a read-only lower cache." below
sloppy='{"source": "__device__ const char t[] = __TIME__;"}'
unfit() {
	fresh_cache && NVRTCCACHE_SLOPPINESS=time_macros compile "$sloppy" && compile "$sloppy" && last_says 'NOT CACHED: time macros' 'the entry is served only with NVRTCCACHE_SLOPPINESS=time_macros' &&
		! grep -q 'very request' "$tmp/out" && last_is 'told["cause"], told["reason"]' "('unfit', 'time_macros')"
}
check "A result that is there and not given out: why." unfit
unfit_header() {
	fresh_cache && old inc/h.h '#define M sizeof(__TIME__)' && NVRTCCACHE_SLOPPINESS=time_macros compile "$H" && compile "$H" && last_says 'the entry is served only with NVRTCCACHE_SLOPPINESS=time_macros' 'the file ' 'inc/h.h.' &&
		last_is "told['cause'], $REFUSAL" "('unfit', 'the file inc/h.h')"
}
check "And of which header it was not cached again." unfit_header
unfit_variable() {
	fresh_cache && compile '{}' && NVRTCWIZ=1 compile '{}' && last_says 'the entry was stored while NVRTCWIZ was not set' &&
		last_is 'told["cause"], told["refusal"]' "('unfit', 'the compiler read the variable NVRTCWIZ, which is not in the key')"
}
if grep -q NVRTCWIZ "$NVRTC"; then
	check "A variable for which it is not given." unfit_variable
else
	skip "A variable for which it is not given." "this release does not ask for NVRTCWIZ"
fi
stale_unkept() {
	fresh_cache && old inc/h.h '#define M 1' && compile "$H" && old inc/h.h '#define M 2' '+1 day' && compile "$H" && last_says 'NOT CACHED: too new' 'the file ' 'inc/h.h.' 'the same request was cached before' 'header changed: inc/h.h' &&
		last_is "told['cause'], told['reason'], told['detail'], $REFUSAL" "('stale', 'too_new', 'header changed: inc/h.h', 'the file inc/h.h')"
}
check "The reason for the miss and the reason for not caching are both reported." stale_unkept
imported() {
	fresh_cache && compile '{}' && "$COMMAND" export "$tmp/bundle" >/dev/null && fresh_cache && compile '{}' && "$COMMAND" clear >/dev/null && "$COMMAND" import "$tmp/bundle" >/dev/null &&
		last_says 'the same request has an older entry now' && last_is 'told["cause"]' brought
}
check "One that was brought there since." imported
recache() { NVRTCCACHE_RECACHE=1 compile '{}' && last_says 'NVRTCCACHE_RECACHE is set'; }
check "A look-up that was not made." recache

not_kept() { # REQUEST REASON TEXT
	fresh_cache && compile "$1" && last_says "NOT CACHED: ${2//_/ }" "$3" && last_is 'told["outcome"], told["reason"]' "('not_kept', '$2')"
}
check "A time macro, and what allows it." not_kept '{"source": "__device__ const char t[] = __TIME__;"}' time_macros NVRTCCACHE_SLOPPINESS=time_macros
check "What the compiler answered is called by its name." not_kept '{"options": ["--no-such-option"]}' return_code 'return code 5, NVRTC_ERROR_INVALID_OPTION.'
failing() {
	fresh_cache && compile '{"source": "no program", "name": "bad.cu"}' && last_says ', a failure, stored as ' && last_is 'told["failed"]' True && local key && key=$(json 'told["key"]') && explained "$key" && says ', a failure, stored' &&
		gives 0 ls && out_has ' ago, a failure$|now, a failure$' && gives 0 ls -j && is '[one["returned"] for one in told]' '[6]' && gives 0 show -j "$key" && is 'told[0]["returned"]' 6 &&
		echo good >bad.ptx && gives 1 extract "$key" --ptx && err_has 'the compilation failed \(return code 6\): the entry has no ptx; it has --log' && [ "$(cat bad.ptx)" = good ] &&
		gives 0 extract "$key" --log && grep -q error bad.log && gives 0 extract "$key" --all made && [ "$(ls made)" = bad.log ]
}
check "A cached failure is reported as one, and missing artifacts are not extracted." failing
check "A side effect." not_kept "{\"options\": [\"-DN=4\", \"--time=$tmp/times\"]}" side_effects "the file $tmp/times"
check "Options that the compiler refuses." not_kept '{"options": ["--no-such-option"]}' return_code 'options that it rejects'
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
	fresh_cache && preloaded python3 link.py "$1" && last_says 'NOT CACHED: return code' 'return code 5, NVJITLINK_ERROR_NVVM_COMPILE.'
}
nvjitlink=$(find -L "$NVRTC_LIB" -maxdepth 1 -name libnvJitLink.so.13 2>/dev/null)
if [ -n "$nvjitlink" ] && grep -q __nvJitLinkCreate_13_0 "$nvjitlink"; then
	check "A link that fails before it asks for anything is no link that was not watched." link_refused "$nvjitlink"
else
	skip "A link that fails before it asks for anything is no link that was not watched." "no nvJitLink 13"
fi
sticky() { fresh_cache && compile '{"options": ["-DN=4", "-restrict"]}' '{"options": ["-DN=5"]}' && last_says 'NOT CACHED: sticky options' 'An option of an earlier compilation'; }
if [ "${NVRTC_SONAME##*.}" = 13 ]; then
	check "An option with process-wide effect." sticky
else
	skip "An option with process-wide effect." "releases before 13 differ in which do"
fi
too_new() { fresh_cache && old inc/h.h '#define M 1' '+1 day' && compile "$H" && last_says 'NOT CACHED: too new' 'the file ' 'inc/h.h.' 'The next compilation is cached, once that time is past' && last_is "$REFUSAL" 'the file inc/h.h'; }
check "A header that is too new, by its name." too_new
clock_in_header() { fresh_cache && old inc/h.h '#define M sizeof(__TIME__)' && compile "$H" && last_says 'NOT CACHED: time macros' 'the file ' 'inc/h.h.'; }
check "A header that asks for the time, by its name." clock_in_header
bypassed() { # one handle, which is refused once
	fresh_cache
	cat >again.py <<-'END'
		import ctypes, os
		lib, program = ctypes.CDLL(os.environ["NVRTC"]), ctypes.c_void_p()
		lib.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"a.cu", 0, None, None)
		for i in range(34):
		    lib.nvrtcCompileProgram(program, 1, (ctypes.c_char_p * 1)(b"-DN=%d" % (i % 2)))
	END
	preloaded python3 again.py && last_says 'BYPASSED: history' 'Create a new handle' && last_is 'told["outcome"], told["reason"], told["key"], told["cause"]' "('bypassed', 'history', None, 'bypassed')"
}
check "What was bypassed, and why." bypassed

several() { explained --last 5 --json && holds 'len(told) == 5 and told[0]["time"] >= told[4]["time"]'; }
check "The last five are an array, the newest first." several
joined() { explained --last=5 --json && holds 'len(told) == 5' && explained -jl2 && holds 'len(told) == 2' && gives 2 explain --last=0 && err_has "bad number '0'" && gives 2 explain --last=2 3; }
check "The number can be joined to the option." joined
too_long() { # more options than a record has room for
	local options
	options=$(printf ', "-DA_LONG_NAME_%04d=1"' {1..1200})
	fresh_cache && compile '{}' && last_is 'told["cut"]' False && compile "{\"options\": [\"-DN=4\"$options]}" "{\"options\": [\"-DN=4\"$options, \"-w\"]}" &&
		last_is 'told["cut"], [(d["what"], d["now"]) for d in told["differences"]]' "(False, [('option', '-w')])"
}
check "What a record has no room for is looked up in the result." too_long
too_long_not_kept() {
	local options
	options=$(printf ', "-DA_LONG_NAME_%04d=1"' {1..1200})
	compile "{\"options\": [\"-DN=sizeof(__TIME__)\"$options]}" && last_is 'told["cut"], [(d["now"], d["was"]) for d in told["differences"]]' "(True, [('-DN=sizeof(__TIME__)', '-DN=4')])" &&
		last_says 'The record does not hold the whole request' && ! grep -q ' is gone' "$tmp/out"
}
check "If there is no result, options missing from the record are not reported as gone." too_long_not_kept
too_long_gone() { "$COMMAND" clear >/dev/null && explained --last 2 --json && is '[one["cut"] for one in told]' "[True, True]"; }
check "A request that is too long to be noted in full says so." too_long_gone
by_key() {
	fresh_cache && compile '{}' '{"options": ["-DN=8"]}' || return
	local key
	key=$(last_json 'told["key"]') && explained "${key:0:8}" && says '-DN=8   was -DN=4' && explained "${key^^}" && says '-DN=8' &&
		rm "$NVRTCCACHE_DIR/v1/journal" && explained "${key:0:8}" && says 'stored as ' '-DN=8   was -DN=4'
}
check "A key is enough, of the journal or of a result." by_key
ambiguous() {
	local requests=() digit i
	for i in {1..17}; do requests+=("{\"options\": [\"-DN=$i\"]}"); done # more than there are digits
	fresh_cache && compile "${requests[@]}" && explained --last 17 --json && digit=$(json '[c for c in "0123456789abcdef" if sum(one["key"][0] == c for one in told) > 1][0]') &&
		gives 1 explain "$digit" && [ ! -s "$tmp/out" ] && err_has "$digit: ambiguous key: several keys begin with it: $digit[0-9a-f]{7} $digit[0-9a-f]{7}$"
}
check "Digits with which several begin are not enough, and those that are are named." ambiguous
hostile() {
	fresh_cache && compile "$(printf '{"name": "\\u001b[31m.cu", "options": ["-DN=\\u001b[32m4"]}')" && compile "$(printf '{"name": "\\u001b[31m.cu", "options": ["-DN=4"]}')" && explained --last && ! grep -q "$(printf '\033')" "$tmp/out" && says 'was -DN=?[32m4'
}
check "Bytes that command a terminal do not reach one." hostile

refused() { # STATUS TEXT ARGUMENT...
	gives "$1" explain "${@:3}" && [ ! -s "$tmp/out" ] && err_has "$2"
}
without_arguments() { "$COMMAND" explain --last >"$tmp/last" && "$COMMAND" explain >"$tmp/bare" && cmp "$tmp/last" "$tmp/bare"; }
check "Without arguments, it explains the last call." without_arguments
check "An unknown option is refused." refused 2 '--lst' --lst
for number in 0 -1 x 1x 99999999999999999999 ''; do
	check "'$number' is no number of misses." refused 2 '' --last -- "$number"
done
check "Two keys are refused." refused 2 'explain: bb: unexpected argument' aa bb
check "What is no key is refused." refused 2 'xyz: not a key' xyz
check "So is an empty one." refused 2 'KEY is empty' ''
check "An unknown key is reported." refused 1 '0123456789abcdef: no entry in ' 0123456789abcdef
fresh_cache
check "Where there is no directory yet, nothing is noted, and what helps is named." refused 1 "is recorded; 'nvrtccache doctor" --last
untrusted() { mkdir -p "$NVRTCCACHE_DIR/v1" && chmod 777 "$NVRTCCACHE_DIR" && refused 1 'because others can write to it' --last; }
check "A directory that others can write is not read." untrusted
unreadable() {
	fresh_cache && compile '{}' && printf 'garbage' >>"$NVRTCCACHE_DIR/v1/journal" && compile '{"options": ["-DN=5"]}' && explained --last 9 --json && is 'len(told)' 2
}
check "Damaged records of the journal are skipped." unreadable
if [ -c /dev/full ]; then
	full() { "$COMMAND" explain --last >/dev/full 2>"$tmp/err"; [ $? = 1 ] && grep -q 'standard output' "$tmp/err"; }
	check "Output that cannot be written is an error." full
else
	skip "Output that cannot be written is an error." "no /dev/full"
fi

read_only() {
	local before
	before=$(stat -c %s "$NVRTCCACHE_DIR/v1/journal")
	NVRTCCACHE_READONLY=1 compile '{"options": ["-DN=77"]}' && [ "$(stat -c %s "$NVRTCCACHE_DIR/v1/journal")" = "$before" ]
}
check "A cache that is only read has nothing noted." read_only
off() { fresh_cache && NVRTCCACHE_DISABLE=1 compile '{}' && [ ! -e "$NVRTCCACHE_DIR/v1/journal" ]; }
check "Nor has one that is off." off
in_the_way() { fresh_cache && mkdir -p "$NVRTCCACHE_DIR/v1/journal" && chmod -R go-rwx "$NVRTCCACHE_DIR" && compile '{}' && [ "$(cat compiled) $(stat_of stores)" = '0 1' ]; }
check "A directory in the journal's place does not prevent caching." in_the_way
forked() {
	fresh_cache
	cat >fork.py <<-'END'
		import os, subprocess, sys
		children = []
		import ctypes
		lib = ctypes.CDLL(os.environ["NVRTC"])
		def compile(number):
		    program = ctypes.c_void_p()
		    lib.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"f%d.cu" % number, 0, None, None)
		    lib.nvrtcCompileProgram(program, 0, None)
		compile(0)
		for number in range(1, 4):
		    child = os.fork()
		    if child == 0:
		        compile(number)
		        os._exit(0)
		    children.append(child)
		for child in children:
		    os.waitpid(child, 0)
	END
	preloaded python3 fork.py && explained --last 9 --json && holds '
		sorted(t["program"] for t in told) == ["f0.cu", "f1.cu", "f2.cu", "f3.cu"] and len({t["pid"] for t in told}) == 4'
}
check "Children of a fork note theirs under their own ids." forked
keeps_out() { "$COMMAND" prune --max-size 1G >/dev/null && "$COMMAND" clear >/dev/null && explained --last 9 && "$COMMAND" stats --count --json | grep -q '"entries": 0' && "$COMMAND" ls >"$tmp/out" && [ ! -s "$tmp/out" ]; }
check "Other commands leave the journal alone, and do not count it." keeps_out
plan
