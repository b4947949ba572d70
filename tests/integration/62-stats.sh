#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is counted, and where: hits, misses, of these not kept, bypassed calls; since when; watched.
# shellcheck disable=SC2317,SC2015 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$(dirname "$0")/command.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
python3 -c 'import pty, os; os.close(pty.openpty()[0])' 2>/dev/null || skip_all "no python3, or no pseudo-terminals"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
export TERM=xterm
cd "$tmp" || exit 1
ON=(python3 "$(dirname "$(realpath "$0" 2>/dev/null || echo "$OLDPWD/$0")")/terminal.py")

compile() { NVRTCCACHE_STATS=1 preloaded "$LIFE" "$NVRTC" trivial 0 "$@" 2>&1 >/dev/null | grep '^nvrtccache\[' >"$tmp/line"; }
# EXPRESSION about what stats says as JSON
counts() { gives 0 stats --json && holds "$1"; }
table_has() { gives 0 stats && out_has "$1"; }
line_is() { grep -qE "^nvrtccache\[[0-9]+\]: $1\$" "$tmp/line" || { cat "$tmp/line" && false; }; }

one_miss() { compile -arch=sm_90 && line_is '0 hits in memory, 0 on disk, 1 miss, 1 stored, [0-9]+ ms saved'; }
check "The line of a miss has nothing that did not happen." one_miss
one_hit() { compile -arch=sm_90 && line_is '0 hits in memory, 1 on disk, 0 misses, 0 stored, [0-9]+ ms saved'; }
check "Nor has that of a hit." one_hit
refused() { compile --time=t && line_is '0 hits in memory, 0 on disk, 1 miss, 0 stored, 1 not cached \([a-z_]+\), [0-9]+ ms saved'; }
check "The line of a miss that was not cached says why." refused
disabled() { NVRTCCACHE_DISABLE=1 compile -arch=sm_90 && line_is 'disabled, 1 bypassed'; }
check "That of a process without a cache says that." disabled

disabled_tells() {
	NVRTCCACHE_DISABLE=1 NVRTCCACHE_LOG=$tmp/off.log NVRTCCACHE_LOG_LEVEL=info NVRTCCACHE_TRACE=$tmp/off.json NVRTCCACHE_DIR=$tmp/off compile -arch=sm_90
	cat "$tmp/off.log" "$tmp/off.json" && grep -qE ': NVRTC: bypassed: disabled, [0-9.]+ [mu]?s, ' "$tmp/off.log" && [ "$(wc -l <"$tmp/off.log")" = 1 ] || return
	python3 -c 'import json, sys
events = [event for event in json.loads(open(sys.argv[1]).read().rstrip(",\n") + "]") if event["ph"] == "X"]
assert [(e["cat"], e["args"]["reason"], e["args"]["options"]) for e in events] == [("bypassed", "disabled", "-arch=sm_90")] and events[0]["dur"] > 0, events' "$tmp/off.json" &&
		[ "$(find "$tmp/off" -type f ! -path '*/v1/stats/*' ! -name CACHEDIR.TAG)" = "" ]
}
check "It is in the log and in the trace all the same; nothing is written into the directory but its count." disabled_tells

disabled_nvvm() {
	rm -f "$tmp/off.log"
	NVRTCCACHE_DISABLE=1 NVRTCCACHE_LOG=$tmp/off.log NVRTCCACHE_LOG_LEVEL=info NVRTCCACHE_DIR=$tmp/off preloaded "$BUILD/tests/nvvm/lookup" "$FAKE/nvvm/libnvvm.so.4" create add=a=one compile destroy >/dev/null
	cat "$tmp/off.log" && [ "$(wc -l <"$tmp/off.log")" = 1 ] && grep -q ': libNVVM: bypassed: disabled, ' "$tmp/off.log"
}
check "So are calls of libNVVM." disabled_nvvm

check "A miss that was not cached is one of the misses, with its reason." \
	counts 'told["misses"] == 2 and told["stores"] == 1 and sum(told["not_kept"].values()) == 1 and told["not_kept"]["disabled"] == 0'
check "A call that was bypassed is none." counts '{name: count for name, count in told["bypassed"].items() if count} == {"disabled": 1}'
check "Each compiler has its share." counts '[told["compilers"]["nvrtc"][name] for name in "hits_disk misses stores not_kept bypassed".split()] == [1, 2, 1, 1, 1]
	and not any(told["compilers"]["nvvm"].values())'
nvvm_share() {
	local lookup=$BUILD/tests/nvvm/lookup NVRTCCACHE_DIR=$tmp/nvvm
	export NVRTCCACHE_DIR
	for _ in 1 2; do
		preloaded "$lookup" "$FAKE/nvvm/libnvvm.so.4" create add=a=one verify compile destroy >/dev/null || return
	done
	counts '[told["compilers"]["nvvm"][name] for name in "hits_disk misses stores".split()] == [2, 2, 2] and told["compilers"]["nvvm"]["compile_ns"] > 0
		and all(sum(one[name] for one in told["compilers"].values()) == told[name] for name in "hits_disk hits_memory misses stores compile_ns saved_ns".split())'
}
check "libNVVM has its own, and the shares add up to the whole." nvvm_share
verified_time() {
	local NVRTCCACHE_DIR=$tmp/verified was
	export NVRTCCACHE_DIR
	compile -arch=sm_80 && gives 0 stats --json && was=$(json 'told["compile_ns"]') && NVRTCCACHE_VERIFY=1 compile -arch=sm_80 &&
		counts "told['verified'] == 1 and told['compile_ns'] == $was and told['compilers']['nvrtc']['compile_ns'] == $was"
}
both() { # of two compilers, one without the cache's help: what its line and its table say
	local NVRTCCACHE_DIR=$tmp/both
	export NVRTCCACHE_DIR
	cat >"$tmp/both.py" <<-'END'
		import ctypes, sys
		nvvm, nvrtc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
		program = ctypes.c_void_p()
		assert nvvm.nvvmCreateProgram(ctypes.byref(program)) == 0 and nvvm.nvvmAddModuleToProgram(program, b"one\n", 4, b"a") == 0
		nvvm.nvvmCompileProgram(program, 0, None)
		for i in range(34): # more than a handle's history holds
		    if i == 0:
		        assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"a.cu", 0, None, None) == 0
		    nvrtc.nvrtcCompileProgram(program, 0, None)
	END
	NVRTCCACHE_STATS=1 preloaded python3 "$tmp/both.py" "$FAKE/nvvm/libnvvm.so.4" "$NVRTC" 2>&1 | grep '^nvrtccache\[' >"$tmp/line"
	gives 0 stats && cat "$tmp/line" && out_has '^  of NVRTC +0 of 32, ' && grep -q '; NVRTC: 0 hits of 32; libNVVM: 0 hits of 1' "$tmp/line"
}
check "The line at the end and the table count alike: hits of hits and misses." both
check "The time compiling is what the misses took: the compile that verifies a hit is none." verified_time
check "The hit rate is of hits and misses alone." table_has '^Hits +1 \(33\.3 %\)$'
check "Uncached compilations and bypasses are distinguished, with reasons." \
	sh -c '"$1" stats >"$2" && [ "$(grep -A1 "^Not cached  *1$" "$2" | wc -l)" = 2 ] && grep -A1 "^Bypassed  *1$" "$2" | grep -q "^  disabled  *1$"' - "$COMMAND" "$tmp/table"

since() { counts 're.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", told["since"])
	and abs(datetime.datetime.fromisoformat(told["since"].replace("Z", "+00:00")).timestamp() - __import__("os").stat(told["dir"]).st_ctime) < 86400'; }
check "It says since when it counts." since
check "In the table too, with how long ago that is." table_has '^Since +[0-9]{4}-[0-9-]+ [0-9:]{5} \([0-9.]+ [a-z]+\)$'

begun_anew() {
	python3 - "$NVRTCCACHE_DIR" <<'PY' || return
import ctypes, os, struct, sys
directory = os.path.join(sys.argv[1], "v1", "stats")
for name in os.listdir(directory):  # a file of an earlier build: another format
    with open(os.path.join(directory, name), "r+b") as file:
        file.seek(8)
        file.write(struct.pack("<I", 1))
PY
	counts 'told["misses"] == 0 and told["since"] is None' && compile -arch=sm_90 && counts 'told["hits_disk"] == 1 and told["since"]'
}
check "Counts of an earlier build are started anew." begun_anew

zeroed() {
	"$COMMAND" stats --zero >/dev/null && counts 'told["hits_disk"] == 0 and told["since"]' && compile -arch=sm_90 && counts 'told["hits_disk"] == 1'
}
check "After --zero it counts since then." zeroed

watched_elsewhere() {
	python3 - "$COMMAND" stats --watch 0.1 <<'PY'
import re, signal, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
lines = [process.stdout.readline() for _ in range(3)]
process.send_signal(signal.SIGINT)
rest = process.stdout.read()
line = r"[0-9:]{8}  1 hit \(\+0\), 0 misses \(\+0\), 0 not cached, 0 bypassed, .* saved, 1 entry, .*\n"
print(lines, rest, process.wait())
sys.exit(process.returncode != 0 or not all(re.fullmatch(line, one) for one in lines))
PY
}
joined_watch() { [ "$(timeout 60 "$COMMAND" stats --watch=0.1 | sed -n '3{p;q}' | grep -c ' hits\? (+0), ')" = 1 ] && timeout 60 "$COMMAND" stats --watch=x >"$tmp/out" 2>"$tmp/err"; [ $? -eq 2 ] && err_has "bad interval 'x'"; }
check "The interval can be joined to the option." joined_watch
check "Watched elsewhere there is a line each time, until ^C, which is no error." watched_elsewhere
watched_here() {
	"${ON[@]}" watched "$COMMAND" stats --watch 0.1 >"$tmp/out" && grep -q '^ended by 0$' "$tmp/out" &&
		[ "$(grep -o 'x1b\[H.x1b\[JDirectory' "$tmp/out" | wc -l)" -ge 2 ] || { cat "$tmp/out" && false; }
}
check "On a terminal it is drawn anew." watched_here
bad_watch() {
	local words
	for words in "--watch 0" "--watch x" "--watch 1h" "--watch -1" "--watch --zero" "--watch 1 2"; do
		# shellcheck disable=SC2086 # several words
		timeout 60 "$COMMAND" stats $words >"$tmp/out" 2>"$tmp/err"
		[ $? -eq 2 ] && [ ! -s "$tmp/out" ] || { echo "$words" && cat "$tmp/err" && return 1; }
	done
	timeout 60 "$COMMAND" stats --watch 0.1 >/dev/full 2>"$tmp/err"
	[ $? -eq 1 ] && grep -q 'standard output: ' "$tmp/err"
}
check "Bad intervals are refused, and a full disk ends it." bad_watch

plan
