#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Requests that are recorded beside entries (NVRTCCACHE_RECORD), and `nvrtccache warm`, which makes them again for another
# compiler or architecture: programs must then hit, with the bytes of a run without the cache.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
runs_here python3 || skip_all "no python3"
host=$PWD/tests/hosts/recorded.py
[ -e "$host" ] || host=$(cd "$(dirname "$0")/../hosts" && pwd)/recorded.py
n12=$FAKE/12/libnvrtc.so.12 n13=$FAKE/13/libnvrtc.so.13
unset LD_LIBRARY_PATH
mkdir "$tmp/work" && cd "$tmp/work" || exit 1

runs() { # OUT LIBRARY ARCH WORD...
	local out=$1
	shift
	preloaded python3 "$host" compile "$@" >"$out"
}
requests() { find "$NVRTCCACHE_DIR" -name '*.request' | wc -l; }
modes() { find "$NVRTCCACHE_DIR" -name '*.request' -printf '%m %f\n'; }
only_hits() { # LIBRARY ARCH WORD...: as without the cache, and nothing is compiled
	local misses
	misses=$(stat_of misses)
	runs "$tmp/warm" "$@" && python3 "$host" compile "$@" >"$tmp/bare" && diff "$tmp/bare" "$tmp/warm" &&
		[ "$(stat_of misses)" = "$misses" ]
}

runs "$tmp/out" "$n12" sm_90 one
check "Without NVRTCCACHE_RECORD no request is written." test "$(requests)" = 0
check "warm says how requests are recorded." \
	eval 'gives 0 warm -c "$n12" && err_has "no recorded requests; NVRTCCACHE_RECORD=1"'
export NVRTCCACHE_RECORD=1
runs "$tmp/out" "$n12" compute_90a one two
check "A miss and a hit write the request beside the entry, once and for its owner." \
	test "$(modes | cut -d ' ' -f 1 | xargs)" = "600 600"
check "A request has the name of its entry." test "$(find "$NVRTCCACHE_DIR" -name '*.request' | sed 's/.request$//' |
	xargs -n 1 ls | wc -l)" = 2
before_all=$(find "$NVRTCCACHE_DIR" -name '*.request' -printf '%i %p\n' | sort)
runs "$tmp/out" "$n12" compute_90a one two
check "A later hit leaves it alone." \
	test "$(find "$NVRTCCACHE_DIR" -name '*.request' -printf '%i %p\n' | sort)" = "$before_all"
runs "$tmp/out" "$n12" sm_90 one
check "A hit records an entry that was stored without its request." test "$(requests)" = 3
unset NVRTCCACHE_RECORD

check "Requests of another kind than the compilers fail." \
	eval 'gives 1 warm -c "$FAKE/nvvm/libnvvm.so.4" && err_has "3 requests have no compiler of this kind"'
check "--check says which requests would miss, and compiles nothing." \
	eval 'gives 1 warm --check -c "$n13" && out_has "^0 of 3 would hit" && err_has "no entry$" && [ "$(entries)" = 3 ]'
check "warm makes the requests for another compiler." eval 'gives 0 warm -c "$n13" --jobs 2 && out_has "^Stored 3, "'
check "A program that moves to that compiler only hits, with its bytes." only_hits "$n13" compute_90a one two
check "What was warmed is known to be there." eval 'gives 0 warm --check -c "$n13" && out_has "^6 of 6 would hit"'
check "--arch keeps the form of the architecture." \
	eval 'gives 0 warm -a sm_100,sm_120 -c "$n13" && out_has "^Stored 6, 6 were there, 0 failed"'
check "A program for another architecture only hits." \
	eval 'only_hits "$n13" compute_100a one two && only_hits "$n13" sm_120 one'
check "Requests that warm has recorded are sent too, and hit." \
	eval 'gives 0 warm -a sm_100 -c "$n13" && out_has "^Stored 0, 12 were there"'
check "--json names every request." \
	eval 'gives 1 warm --json --check -c "$n12" && is "len(told[\"requests\"])" 12 && is "told[\"there\"]" 6'

check "verify passes requests over, and their bytes count." \
	eval 'gives 0 verify && gives 0 stats --json && holds "told[\"bytes\"] == $(cat "$NVRTCCACHE_DIR"/v1/??/* | wc -c) or told[\"bytes\"] == $(find "$NVRTCCACHE_DIR"/v1/?? -type f -printf "%b\n" | awk "{ n += \$1 * 512 } END { print n }")"'
unchanged() { # CMD...: it changes nothing in the directory
	find "$NVRTCCACHE_DIR" -type f -printf '%p %s %T@ %C@\n' | sort >"$tmp/before_all" && "$@" &&
		find "$NVRTCCACHE_DIR" -type f -printf '%p %s %T@ %C@\n' | sort | diff "$tmp/before_all" -
}
check "prune --dry-run says what would be evicted, and changes nothing." \
	eval 'unchanged gives 0 prune -n -o 0s && out_has "^Would remove $(entries) entries" && out_has "^0 entries left, "'
check "clear --compiler removes the entries of one release, with their requests." \
	eval 'had=$(entries) && gives 0 clear --compiler 12.9 && out_has "^Removed 3 entries" && [ "$(entries)" = $((had - 3)) ] && [ "$(requests)" = "$(entries)" ]'
check "A release is named whole, or by its first numbers." \
	eval 'had=$(entries) && gives 0 clear -c 1 && err_has "^nvrtccache: no entry is of a compiler of release .1.$" && [ "$(entries)" = "$had" ] && gives 0 clear -c 13.00 && [ "$(entries)" = "$had" ] && gives 0 prune --dry-run -s 0 && gives 0 clear -c 13 && [ "$(entries)" = 0 ]'
runs "$tmp/out" "$n12" sm_90 one
check "A request goes with its entry." eval 'gives 0 prune -o 0s && [ "$(entries) $(requests)" = "0 0" ]'

# What the key has of the process
fresh_cache
mkdir here && echo '// a header' >here/disk.h
export NVRTCCACHE_RECORD=1
(cd here && TZ=UTC+3 NVRTCCACHE_NAMESPACE=n runs "$tmp/out" "$n12" sm_90 placed -- -lineinfo --pre-include=disk.h)
unset NVRTCCACHE_RECORD
gives 0 warm -c "$n13" >"$tmp/said"
check "Directory, environment and namespace are those of the recorded process." \
	eval '(cd here && TZ=UTC+3 NVRTCCACHE_NAMESPACE=n only_hits "$n13" sm_90 placed -- -lineinfo --pre-include=disk.h)'
mv here gone
check "A directory that is gone fails that request alone, and is named." \
	eval 'gives 1 warm -a sm_100 -c "$n13" && err_has "work/here cannot be entered"'
mv gone here

# run --must-hit
fresh_cache
n12_of() { # STATUS WORD...: gives STATUS run --must-hit, and a host in a child
	local status=$1
	shift
	gives "$status" run --must-hit -- sh -c '"$@"; exit "${code:-0}"' sh python3 "$host" compile "$n12" sm_90 "$@"
}
check "run --must-hit exits with 3 after a miss of a child, and names it." \
	eval 'n12_of 3 one two && err_has "^nvrtccache: one: miss [0-9a-f]{64}" && err_has "2 of 2 compilations missed" && out_has "^one 0 "'
check "It exits with 0 after hits alone." eval 'n12_of 0 one two && silent_err'
check "It exits with the status of a program that failed." eval 'code=7 gives 7 run --must-hit -- sh -c "exit 7" &&
	export code=7 && n12_of 7 one three; unset code; silent_err'
runs "$tmp/out" "$n12" sm_90 others
check "Misses of other processes are not those of the run." eval 'n12_of 0 one && silent_err'
misses_meanwhile() { preloaded python3 "$host" compile "$n12" sm_90 meanwhile >/dev/null && python3 "$host" compile "$n12" sm_90 one; }
export -f misses_meanwhile preloaded
check "Not even those of one that runs meanwhile." eval 'export before after LIBRARY host n12
	gives 3 run --must-hit -- env -u LD_PRELOAD -u NVRTCCACHE_TRACE bash -c misses_meanwhile && err_has "no compilation reached" && [ "$(stat_of misses)" = 5 ]'
check "Where the directory cannot be written, misses are found too." \
	eval 'NVRTCCACHE_READONLY=1 n12_of 3 one new && err_has "new: not_kept read_only" && err_has "1 of 2 compilations missed"'
check "A call without a look-up is no hit." \
	eval 'NVRTCCACHE_DISABLE=1 n12_of 3 one && err_has "default_program: bypassed disabled"'
cat >waits.sh <<'END'
for signal in INT TERM HUP; do trap "echo $signal; exit 9" "$signal"; done
echo ready
for _ in $(seq 200); do sleep 0.05; done
END
mkdir runs
ready() { grep -q ready "$tmp/said"; }
signalled() { # SIGNAL: python3, because a shell ignores SIGINT in what it starts with &
	: >"$tmp/said"
	TMPDIR=$PWD/runs python3 -c 'import signal, os, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$COMMAND" run --must-hit -- sh waits.sh >"$tmp/said" 2>&1 &
	wait_for ready && kill -s "$1" $! || return
	wait $!
	[ $? = 9 ] && [ "$(tail -n 1 "$tmp/said")" = "$1" ] && [ -z "$(ls runs)" ]
}
for signal in TERM HUP INT; do
	check "SIG$signal ends the program, and the run with its status." signalled "$signal"
done
check "A run without any compilation says so, fails, and leaves no file." \
	eval 'TMPDIR=$PWD/runs gives 3 run --must-hit -- true && err_has "no compilation reached" && [ -z "$(ls runs)" ]'
mkfifo go gone_on
late() {
	TMPDIR=$PWD/runs gives 3 run --must-hit -- sh -c '{ read x <go; python3 "$@"; echo >gone_on; } >/dev/null 2>&1 &' sh "$host" compile "$n12" sm_90 late
	echo >go && cat gone_on && [ -z "$(ls runs)" ]
}
check "A child that outlives the run leaves no file." late
check "A run whose trace cannot be written is not started." \
	eval 'said=$(ulimit -f 0; "$COMMAND" run --must-hit -- echo started 2>&1); [ $? = 125 ] && [[ $said == *"File too large" ]]'
check "A trace that has no room for another call is a failure." \
	eval '(ulimit -f 2 && n12_of 3 one && err_has "nvrtccache-run.*may have been overlooked" && ! err_has missed >/dev/null)'
name="The calls of a child of another user are seen."
if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65533 --clear-groups test -r "$host" -a -r "$LIBRARY" -a -r "$n12" 2>/dev/null; then
	skip "$name" "it takes root, and files that every user can read"
else
	check "$name" eval 'TMPDIR=/tmp gives 3 run --must-hit -- setpriv --reuid 65533 --regid 65533 --clear-groups \
		python3 "$host" compile "$n12" sm_90 one && err_has "1 of 1 compilations missed"'
fi
unwaited() { # WORD...: a caller that ignores SIGCHLD
	(trap '' CHLD && exec "$COMMAND" "$@")
}
check "The status of the program is known where the caller ignores SIGCHLD." eval 'unwaited run --must-hit -- sh -c "exit 7"
	[ $? = 7 ] && unwaited doctor -- sh -c "exit 7" | grep "ended with status 7"'

# export --directory, and copies of the cache directory
fresh_cache
NVRTCCACHE_RECORD=1 runs "$tmp/out" "$n12" sm_90 one two
here=$NVRTCCACHE_DIR
check "warm finds compilers where the caller ignores SIGCHLD." \
	eval 'LD_LIBRARY_PATH=$FAKE/13 unwaited warm --check >"$tmp/out" 2>"$tmp/err"; out_has "^0 of 2 would hit"'
# a file that was not copied whole: its pages behind the end are no memory
mkdir "$tmp/short" && head -c 8K "$n12" >"$tmp/short/libnvrtc.so.12"
check "warm passes over a compiler that ends the process that loads it." \
	eval 'LD_LIBRARY_PATH=$tmp/short:$FAKE/13 gives 1 warm --check && out_has "^0 of 2 would hit"'
check "export leaves requests out." eval 'gives 0 export plain.nvb && (fresh_cache && gives 0 import plain.nvb && [ "$(entries) $(requests)" = "2 0" ])'
check "A copy of the directory has them for warm." eval 'tar -C "$NVRTCCACHE_DIR" -cf both.tar . && mkdir -m 700 "$tmp/copied" &&
	tar -C "$tmp/copied" --no-same-owner -xf both.tar && export NVRTCCACHE_DIR="$tmp/copied" && [ "$(entries) $(requests)" = "2 2" ] &&
	gives 0 warm -c "$n13" && out_has "^Stored 2, " && [ "$(modes | cut -d " " -f 1 | sort -u)" = 600 ]'
export NVRTCCACHE_DIR=$here
(umask 077 && gives 0 export --directory "$tmp/mounted") >"$tmp/said"
check "export --directory writes a directory that every user may read, and only its owner write." \
	eval '[ "$(find "$tmp/mounted" -type d -printf "%m\n" -o -printf "%m\n" | sort -u | xargs)" = "644 755" ] &&
	[ -z "$(find "$tmp/mounted" -name "*.request")" ]'
check "A program hits in it." eval '(export NVRTCCACHE_DIR="$tmp/own" NVRTCCACHE_LOWER="$tmp/mounted" &&
	gives 0 run --must-hit -- python3 "$host" compile "$n12" sm_90 one two)'
check "A directory that was there keeps its mode." eval 'mkdir -m 700 "$tmp/closed" && gives 0 export -d "$tmp/closed" && [ "$(stat -c %a "$tmp/closed")" = 700 ] && [ -z "$(find "$tmp/closed" -name "*.request")" ]'
check "A cache directory that programs use is no target." eval 'gives 1 export -d "$NVRTCCACHE_DIR" && [ "$(stat -c %a "$NVRTCCACHE_DIR/v1/events")" = 600 ]'
check "export takes a file or a directory." eval 'gives 2 export && gives 2 export -d "$tmp/mounted" x.nvb && gives 2 export -d "$tmp/mounted" -k plain.nvb'

# libNVVM and nvJitLink: inputs are recorded whole, also those of which the key has a digest only
works() { # WORD...: how often the library works
	preloaded "$@" 2>&1 | sed -n 's/^really //p' | xargs
}
nvvm=("$BUILD/tests/nvvm/lookup" "$FAKE/nvvm/libnvvm.so.4")
program=(create 'add==one lib' verify lazy=lib=uno big=b=text compile get destroy)
linker=("$BUILD/tests/hosts/linker" "lib=$FAKE/link/13.2/libnvJitLink.so.13" names=plain)
link=(option=-lto create name=a 'lto=one' name=b 'ptx=two' complete get destroy)
fresh_cache
export NVRTCCACHE_RECORD=1
works "${nvvm[@]}" option=-arch=compute_90 "${program[@]}" >"$tmp/out"
works "${linker[@]}" option=-arch=sm_90 "${link[@]}" >>"$tmp/out"
unset NVRTCCACHE_RECORD
check "Requests of libNVVM and nvJitLink are recorded." test "$(requests)" = 3
gives 0 warm -a sm_100 -c "${nvvm[1]},${linker[1]#lib=}" >>"$tmp/out"
check "A program of libNVVM for another architecture only hits." \
	test "$(works "${nvvm[@]}" option=-arch=compute_100 "${program[@]}")" = "0 0"
check "A link for another architecture only hits." \
	test "$(works "${linker[@]}" option=-arch=sm_100 "${link[@]}")" = "link 0 0"

# A link of what was compiled
chained() { # LIBRARY ARCH: a host that links what it compiles
	preloaded python3 "$host" link "$1" "${linker[1]#lib=}" "$2" one two
}
only_links() { # LIBRARY ARCH: as without the cache, and nothing is compiled
	local misses
	misses=$(stat_of misses)
	chained "$@" >"$tmp/warm" && python3 "$host" link "$1" "${linker[1]#lib=}" "$2" one two >"$tmp/bare" &&
		diff "$tmp/bare" "$tmp/warm" && grep -q "^0 " "$tmp/warm" && [ "$(stat_of misses)" = "$misses" ]
}
fresh_cache
NVRTCCACHE_RECORD=1 chained "$n12" 90 >"$tmp/out"
gives 0 warm -c "$n13,${linker[1]#lib=}" >"$tmp/said"
check "A link whose inputs another release makes anew only hits." eval 'cat "$tmp/said" && only_links "$n13" 90'
check "So it is known to be there." eval 'gives 0 warm --check -c "$n13,${linker[1]#lib=}"'
check "So it does for another architecture." \
	eval 'gives 0 warm -a sm_100 -c "$n13,${linker[1]#lib=}" && out_has "^Stored 3, 3 were there" && only_links "$n13" 100'
check "A link is not sent if a compilation failed whose artifact it has." eval 'gives 1 warm -a sm_999 -c "$n13,${linker[1]#lib=}" &&
	err_has "the compilation of an input failed"'
check "If it misses, --check says so of the link." eval 'gives 1 warm --check -a sm_999 -c "$n13,${linker[1]#lib=}" &&
	err_has "an input is not in the cache"'
check "Without a compiler for them, the inputs of each link are the recorded ones." \
	eval 'gives 1 warm --json -a sm_120 -c "${linker[1]#lib=}" && is "told[\"stored\"]" 3'

# An interruption loses only what runs: a header that never ends, in one request of three
fresh_cache
export NVRTCCACHE_RECORD=1
(cd here && runs "$tmp/out" "$n12" sm_90 slow -- --pre-include=disk.h)
runs "$tmp/out" "$n12" sm_90 one two
unset NVRTCCACHE_RECORD
rm here/disk.h && mkfifo here/disk.h
"$COMMAND" warm -c "$n13" --jobs 3 >"$tmp/out" 2>&1 &
warm=$!
stored() { [ "$(entries)" = 5 ]; }
ended() { ! pgrep -f "$n13 " >/dev/null; }
wait_for stored
kill -9 "$warm"
wait "$warm" 2>/dev/null
check "kill -9 loses only what is being compiled." eval 'wait_for ended && only_hits "$n13" sm_90 one two'

# The order and the choice of requests
fresh_cache
mkdir -m 700 -p "$NVRTCCACHE_DIR/v1"
for cost in 1 3 2; do
	python3 "$host" forge "$NVRTCCACHE_DIR/v1/a$cost/$(printf '%062d' 1).request" \
		compiler=nvrtc release=12.9 cost="${cost}000000000" "source=__global__ void f$cost() {}" call=0
done
touch -d '2 days ago' "$NVRTCCACHE_DIR"/v1/a2/*
chosen() { # KEYS OPTION...: the first two digits of what would be sent, in that order
	local keys=$1
	shift
	gives 1 warm --check --json -c "$n13" "$@" && is '" ".join(one["request"][:2] for one in told["requests"])' "$keys"
}
check "The most expensive requests come first." chosen "a3 a2 a1"
check "--used-since leaves the old ones out." chosen "a3 a1" --used-since 1d

# Forged requests
forge() { # WORD...: the fields after those that all have
	fresh_cache
	mkdir -m 700 -p "$NVRTCCACHE_DIR/v1"
	python3 "$host" forge "$NVRTCCACHE_DIR/v1/ab/$(printf '%062d' 1).request" \
		compiler=nvrtc release=12.9 cost=1 floating_point=$mode "$@"
}
mode=$((0x37f << 32 | 0x1f80)) # x86-64: as at the start of a program
[ "$(uname -m)" = x86_64 ] || mode=0
source='source=__global__ void forged() {}'
refused() { # REASON WORD...
	local reason=$1
	shift
	forge "$@"
	gives 1 warm -c "$n13" && err_has "$reason" && [ "$(entries)" = 0 ] && [ -z "$(ls "$tmp/trap")" ]
}
mkdir "$tmp/trap"
forge "$source" option=-arch=sm_90 call=0
check "A request that a program could have made is sent." eval 'gives 0 warm -c "$n13" && [ "$(entries)" = 1 ]'
for option in --time="$tmp/trap/a" --create-pch="$tmp/trap/a" --pch-dir="$tmp/trap" --fdevice-time-trace="$tmp/trap/a" \
	--use-bundled-headers="$tmp/trap" --fake-write="$tmp/trap/a" -Xptxas=--output-file="$tmp/trap/a"; do
	check "${option%%=*} is not sent." refused 'not sent: side_effects' "$source" "option=$option" call=0
done
check "No variable that may name a file is set." refused 'variable AS_SECURE_LOG_FILE was set' \
	variable=AS_SECURE_LOG_FILE value="$tmp/trap/a" "$source" call=0
check "No variable of the loader is set." refused 'variable LD_PRELOAD was set' \
	variable=LD_PRELOAD value="$tmp/trap/a.so" "$source" call=0
check "A locale that is missing is named." refused 'the locale x is missing' locale=x "$source" call=0
forge result=6 "$source" option=-arch=sm_90 call=0
check "A failure that this compiler does not have is a success." eval 'gives 0 warm -c "$n13" && out_has "^Stored 1, "'
forge 'source=#error no' call=0
check "A failure that was a success fails each time, when it is cached too." \
	eval 'gives 1 warm -c "$n13" && gives 1 warm -c "$n13" && err_has "refused it \(6\)" && [ "$(entries)" = 1 ] &&
	words=$(sed "s/.*nvrtccache \(extract [^\x27]*\).*/\1/" "$tmp/err") && gives 0 $words && out_has "error"'
mkdir planted && cp "$n13" planted/libnvrtc.so.planted
forge "directory=$PWD/planted" "$source" option=-arch=sm_90 call=0
for list in "$FAKE/13:" ../planted "$FAKE/13:./"; do
	check "The loader does not search a request's directory (LD_LIBRARY_PATH=$list)." \
		eval 'LD_LIBRARY_PATH=$list gives 1 warm -c libnvrtc.so.planted && err_has "planted: cannot open"'
done
damaged() {
	forge "$@"
	gives 1 warm -c "$n13" && err_has '1 request is damaged or not trusted' && [ "$(entries)" = 0 ]
}
check "A request with another digest is not sent." damaged "$source" call=0 cut=1
check "A head behind the calls is damage." damaged "$source" cost=1 call=0
check "A value without a variable is damage." damaged value=x "$source" call=0
check "A request that others can write is not sent." \
	eval 'forge "$source" call=0 && chmod 666 "$NVRTCCACHE_DIR"/v1/ab/* && gives 1 warm -c "$n13" && err_has "not trusted"'
plan
