#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 40
# Hosts under tools (sanitizers, valgrind, gdb), hosts with two NVRTCs, hosts that close NVRTC and open it again: the same
# lines without us, with an empty cache and with a filled one, and the hits counted.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/hosts.sh"
cd "$(dirname "$0")/../.." || exit 1
unset LD_LIBRARY_PATH
[ -x "$HOSTS/storm" ] || skip_all "no $HOSTS/storm"
work=(1 40 8) # one thread: who compiles what is the same in each run

eval "$(scripts/nvrtc-env 2>/dev/null)"
real=${NVRTC_LIB:+$NVRTC_LIB/$NVRTC_SONAME}
# another NVRTC of another major version, which scripts/setup --test puts under build/
second=
for candidate in build/cuda-{12.9,13.0}/lib64/libnvrtc.so.*[0-9] /usr/local/cuda-*/lib64/libnvrtc.so.[0-9][0-9]; do
	if [ -e "$candidate" ] && [ "${candidate##*/}" != "${NVRTC_SONAME:-}" ]; then
		second=$(realpath "$candidate")
		break
	fi
done

# Sanitizers look into dlopen, so RUNPATHs of who calls it are lost, with and without us.
export LD_LIBRARY_PATH=$FAKE/13
export UBSAN_OPTIONS=halt_on_error=1 ASAN_OPTIONS=detect_leaks=0
if [ -x "$HOSTS/storm-asan-gcc" ] && ASAN_OPTIONS=detect_leaks=1 "$HOSTS/storm-asan-gcc" "$SO13" 1 1 1 >/dev/null 2>&1; then
	export ASAN_OPTIONS=detect_leaks=1 # it may trace itself here
fi
for host in asan-gcc asan-clang ubsan-gcc ubsan-clang; do
	sentence="A host built with $host gets hits, and its sanitizer reports nothing."
	[ "$host" != asan-gcc ] || preload=$(cc -print-file-name=libasan.so)
	if [ -x "$HOSTS/storm-$host" ]; then
		hosted "$sentence" "$HOSTS/storm-$host" "$SO13" "${work[@]}"
	else
		skip "$sentence" "${host#*-} cannot build one"
	fi
	preload=
done
sentence="A host built with asan-gcc runs with any order of preloads if verify_asan_link_order=0."
if [ -x "$HOSTS/storm-asan-gcc" ]; then
	ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 hosted "$sentence" "$HOSTS/storm-asan-gcc" "$SO13" "${work[@]}"
else
	skip "$sentence" "gcc cannot build one"
fi
unset LD_LIBRARY_PATH ASAN_OPTIONS UBSAN_OPTIONS

# What valgrind's loader does with run paths it reports without us as well (strncmp of ld.so reads by words).
ours_in() {
	awk -v RS='\n==[0-9]+== \n' '/\/(cache|keygen|interpose)\/[a-z_]+\.[ch]:|libnvrtccache/ && !/\(decompose_rpath|dl-load\.c/' "$@"
}
checked=(valgrind -q --fullpath-after= --leak-check=full --show-leak-kinds=definite)
none_of_ours() {
	run_hosted threads "${checked[@]}" "$HOSTS/storm" "$SO13" 4 20 8
	ours_in "$tmp/cold.err" "$tmp/warm.err" "$tmp/threads.err" | diff /dev/null -
}
if valgrind -q /bin/true 2>/dev/null; then
	hosted "A host under valgrind gets hits." "${checked[@]}" "$HOSTS/storm" "$SO13" 1 20 8
	check "Valgrind finds no error and no leak of ours." none_of_ours
else
	skip "A host under valgrind gets hits, and it finds no error and no leak of ours." "no valgrind"
fi

# gdb starts its program through a shell; the wrapper leaves that alone
debugged() { # how
	local how=$1 name
	fresh_cache
	"$HOSTS/storm" "$SO13" "${work[@]}" >"$tmp/bare"
	for name in cold warm; do
		forget_counts
		timeout 600 gdb -nx --batch -ex "$how" -ex 'set breakpoint pending on' -ex 'tbreak storm.c:run' \
			-ex 'tbreak nvrtcCompileProgram' -ex "run $SO13 ${work[*]} >$tmp/$name" -ex 'backtrace 3' -ex continue \
			-ex 'backtrace 3' -ex 'info threads' -ex continue "$HOSTS/storm" >"$tmp/gdb" 2>&1 </dev/null
		diff <(lines_of "$tmp/bare") <(lines_of "$tmp/$name") || { cat "$tmp/gdb" && return 1; }
		[ "$(grep -c 'Temporary breakpoint' "$tmp/gdb")" -ge 2 ] && grep -q 'exited normally' "$tmp/gdb" || { cat "$tmp/gdb" && return 1; }
	done
	[ "$(stat_of misses)" -eq 0 ] && [ "$(stat_of hits_disk)" -gt 0 ]
}
lacks=
timeout 600 gdb -nx --batch -ex run /bin/true 2>&1 | grep -q 'exited normally' || lacks="no gdb, or it may not trace here"
check_there "A host under gdb (exec-wrapper) stops at its breakpoint and gets hits." debugged "set exec-wrapper env LD_PRELOAD=$LIBRARY"
check_there "So does one where the shell that starts it has the library too (set environment)." debugged "set environment LD_PRELOAD $LIBRARY"

# Closing and opening again. Without us a library that comes back leaves mappings behind; ours alone counts.
reopened() { # mode times library...
	three_runs "$HOSTS/reopen" "$@"
	diff <(lines_of "$tmp/bare" | grep -v '^grown') <(lines_of "$tmp/cold" | grep -v '^grown') &&
		diff <(lines_of "$tmp/bare" | grep -v '^grown') <(lines_of "$tmp/warm" | grep -v '^grown') &&
		grep -qx 'grown 0 0 0' "$tmp/cold" && grep -qx 'grown 0 0 0' "$tmp/warm"
}
served() { # memory disk misses of the warm run
	[ "$warm" = "$1" ] || { echo "warm: $warm, not $1" && return 1; }
}
compiling() { reopened compile 300 "$SO13" && served "299 1 0"; }
check "NVRTC can be closed and opened 300 times: each compile is a hit, and memory does not grow." compiling
creating() { reopened create 300 "$SO13"; }
check "It can be opened and closed 300 times without a compile, and memory does not grow." creating
keeping() { reopened keep 300 "$SO13" && served "299 1 0"; }
check "A program of before the library was closed can be asked through the library as it is opened again." keeping
turning() { reopened turns 60 "$SO13" "$FAKE/13b/libnvrtc.so.13" && served "58 2 0"; }
check "Two builds of one soname that take turns get their own results." turning
moving() { reopened moved 12 "$SO13" && served "1 1 0"; }
check "A library loaded at twelve addresses in turn gets a hit at the last one." moving
unaffected "At forty addresses its results are those that it gives without us." "$HOSTS/reopen" moved 40 "$SO13"

# Two in one process
apart() { # first second: each alone with a cache that both filled together, and the other way round
	local library
	three_runs "$HOSTS/pair" "$@" || { cat "$tmp/difference" && return 1; }
	[ "$cold" = "6 0 6" ] && [ "$warm" = "6 6 0" ] || { echo "cold $cold, warm $warm" && return 1; }
	sed '/^exit/d' "$tmp/bare" | sort >"$tmp/together"
	: >"$tmp/each"
	for library; do
		"$HOSTS/pair" "$library" >>"$tmp/each"
		forget_counts
		run_hosted alone "$HOSTS/pair" "$library"
		[ "$(counts)" = "3 3 0" ] || { echo "$library alone: $(counts)" && return 1; }
	done
	sort "$tmp/each" | diff - "$tmp/together" || return
	fresh_cache
	for library; do run_hosted alone "$HOSTS/pair" "$library"; done
	forget_counts
	run_hosted both "$HOSTS/pair" "$@"
	[ "$(counts)" = "6 6 0" ] || { echo "both after each alone: $(counts)" && return 1; }
	sed '/^exit/d; /^compiles/d' "$tmp/both" | sort | diff - <(grep -v ^compiles "$tmp/together")
}
check "Two versions in one process have their own results and share the cache with processes of one." \
	apart "$SO13" "$FAKE/12/libnvrtc.so.12"
needs "no second NVRTC here: scripts/setup --test gets one" [ -n "$real" -a -n "$second" ]
LD_LIBRARY_PATH=${RUN_PATH:-}:${second%/*} check_there "So it is with two real NVRTCs." apart "$real" "$second"
needs "no NVRTC here" [ -n "$real" ]
really() { reopened compile 12 "$real" && served "11 1 0"; }
LD_LIBRARY_PATH=${RUN_PATH:-} check_there "A real NVRTC can be closed and opened again: each compile is a hit, and memory does not grow." really

# Leaving a flow callback another way than by return
jumping() { three_runs "$HOSTS/jumper" "$1" "$2" || { cat "$tmp/difference" && return 1; }; }
check "A host that leaves its flow callback by longjmp continues as without the cache." jumping "$SO13" jump
check "So does one whose thread ends there." jumping "$SO13" end

# Getters of NVRTC take no lock, and may be interrupted anywhere
stepping() { three_runs "$HOSTS/stepper" "$SO13" "$1" || { cat "$tmp/difference" && return 1; }; }
getters() { # how, sentence
	needs "stepper steps only on x86_64" [ "$(uname -m)" = x86_64 ]
	check_there "$2" stepping "$1"
}
getters ask "A signal handler may call getters wherever it interrupts one."
getters jump "A getter may be left by siglongjmp anywhere."
getters cancel "A thread may be cancelled anywhere in a getter."
getters fork "A child that runs no fork handlers may call getters wherever its parent was in one."

# What people asked to be told must not end a host that would go on: SIGPIPE and SIGXFSZ come of writing.
told() { # NAME=VALUE...: with descriptor 2 a pipe that nobody reads, and files of 1 KiB at most
	fresh_cache
	(
		ulimit -f 1
		exec 2> >(exit 0)
		wait $!
		env --default-signal=PIPE,XFSZ "$@" LD_PRELOAD="$LIBRARY" "$HOSTS/storm" "$SO13" 1 4 4 >"$tmp/told"
	)
}
head -c 4096 /dev/zero >"$tmp/full"
if env --default-signal=PIPE true 2>/dev/null; then
	check "A log without a reader does not end a host." told NVRTCCACHE_LOG=stderr NVRTCCACHE_LOG_LEVEL=debug
	check "Nor does a line of counts." told NVRTCCACHE_STATS=1
	check "Nor does a log that may not grow." told NVRTCCACHE_LOG="$tmp/full" NVRTCCACHE_LOG_LEVEL=debug
	check "Nor does a time line that may not grow." told NVRTCCACHE_TRACE="$tmp/full"
else
	skip "A log without a reader does not end a host, nor one that may not grow." "env cannot set signals here"
fi
plan
