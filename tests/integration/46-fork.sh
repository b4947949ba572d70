#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Fork, exec and ends of every kind while another thread is in the middle of a compile, or of keeping its result
# (tests/hosts/forks.c stands there and waits); and Python's multiprocessing. The lines are those of a run without us, the
# counts are right to one, and nothing is left behind.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/hosts.sh"
cd "$(dirname "$0")/../.." || exit 1
unset LD_LIBRARY_PATH
[ -x "$HOSTS/forks" ] || skip_all "no $HOSTS/forks"
preload=$HOSTS/pauser.so

temporaries() { find "$NVRTCCACHE_DIR" -name 'tmp.*' | wc -l; }
inspect() { # name counts-expected ("-": any) temporaries-expected [more-at-most]
	[ "$2" = - ] || [ "$(counts)" = "$2" ] || { echo "$1: hits in memory, on disk, misses $(counts), not $2" && cat "$tmp/$1.err" && return 1; }
	local left
	left=$(temporaries)
	[ "$left" -ge "$3" ] && [ "$left" -le $(($3 + ${4:-0})) ] || { echo "$1: $left temporary files, not $3 and up to ${4:-0} more" && return 1; }
}

# "WHERE WHAT": a run with an empty cache in which the thread stands at $1, then one with a filled cache, where nothing is compiled.
# Without us nobody stores: there the thread just runs, and what it comes to before the process ends is not counted.
# What the first run did not keep, the second may be keeping when it ends.
forked() { # where what counts-cold counts-warm [temporaries-left [more-when-warm]]
	local where=$1 what=$2 bare_where=$1
	[ "$where" = compile ] || bare_where=none
	timeout 600 "$HOSTS/forks" "$SO13" "$bare_where" "$what" "$tmp/place" >"$tmp/bare" 2>&1
	echo "exit $?" >>"$tmp/bare"
	fresh_cache
	run_hosted cold "$HOSTS/forks" "$SO13" "$where" "$what" "$tmp/place"
	diff <(lines_of "$tmp/bare") <(lines_of "$tmp/cold") && inspect cold "$3" "${5:-0}" || return
	forget_counts
	run_hosted warm "$HOSTS/forks" "$SO13" none "$what" "$tmp/place"
	diff <(lines_of "$tmp/bare") <(lines_of "$tmp/warm") && inspect warm "$4" "${5:-0}" "${6:-0}"
}

declare -A places=([compile]="a compile" [write]="writing a result" [rename]="a result that is about to appear")
for where in compile write rename; do
	middle=${places[$where]}
	check "A child forked in the middle of $middle uses NVRTC and has what its parent has." forked $where use "3 1 3" "3 4 0"
	check "So does the child of such a child." forked $where storm "4 1 4" "4 5 0"
	check "A child forked in the middle of $middle may exit." forked $where exit "2 0 3" "2 3 0"
	check "It may _exit." forked $where _exit "2 0 3" "2 3 0"
	check "It may be killed." forked $where killed "2 0 3" "2 3 0"
	check "It may abort." forked $where abort "2 0 3" "2 3 0"
	check "It may become another program, which gets no descriptor of ours." forked $where exec "2 0 3" "2 3 0"
	check "So may a child of vfork." forked $where vfork "2 0 3" "2 3 0"
	check "So may one of posix_spawn." forked $where spawn "2 0 3" "2 3 0"
	check "Fork handlers of the host may wait for the end of $middle." forked $where waiting "2 0 3" "2 3 0"
	# the child goes on in the middle of whatever its parent's thread was doing, and counts its own compile there
	case $where in compile) handled="3 0 4" ;; *) handled="3 0 3" ;; esac
	check "A signal handler in the middle of $middle may fork, and both go on." forked $where handler "$handled" "2 3 0"
	check "The main thread may leave alone in the middle of $middle." forked $where pthread_exit "0 0 2" "0 2 0"
	# what was not yet counted or stored is lost, with the temporary file, which the next to look there removes
	left=$([ $where = compile ] && echo 0 || echo 1)
	check "The process may _exit in the middle of $middle." forked $where _exits "0 0 1" - "$left" 1
	check "It may become another program there, which gets no descriptor of ours." forked $where execs "0 0 1" - "$left" 1
	exits=$([ $where = compile ] && echo "0 0 1" || echo "0 0 2")
	check "It may exit there." forked $where exits "$exits" - "$left" 1
	if [ "$left" = 1 ]; then
		# which nobody has written to for an hour
		find "$NVRTCCACHE_DIR" -name 'tmp.*' -exec touch -d '2 hours ago' {} +
		"$COMMAND" prune >/dev/null 2>&1
		check "Leftovers of that are removed." test "$(temporaries)" -eq 0
	fi
done

# The parent is gone when the grandchild compiles; its line comes when it is done.
daemon_done() { grep -q daemon "$tmp/place" 2>/dev/null && [ "$(stat_of misses)" -ge 4 ]; }
daemonised() {
	fresh_cache
	rm -f "$tmp/place"
	run_hosted cold "$HOSTS/forks" "$SO13" "$1" daemon "$tmp/place"
	wait_for daemon_done
	grep -qx 'daemon 0' "$tmp/place" && inspect cold "3 0 4" 0
}
for where in compile write rename; do
	check "A daemon made in the middle of ${places[$where]} uses NVRTC." daemonised $where
done

preload=
if reason=$(without_processes); then
	for method in fork spawn forkserver; do
		skip "multiprocessing by $method: children and parent get the same, and all is counted." "$reason"
	done
else
	multiprocess() { # library method order cold warm
		three_runs python3 tests/hosts/multi.py "$1" "$2" "$3" || { cat "$tmp/difference" && return 1; }
		[ "$cold" = "$4" ] && [ "$warm" = "$5" ] || { echo "cold $cold, not $4; warm $warm, not $5" && return 1; }
	}
	check "multiprocessing by fork: children have what their parent has, and all is counted." multiprocess "$SO13" fork before "2 3 3" "2 6 0"
	check "multiprocessing by fork before the parent compiles: all is counted." multiprocess "$SO13" fork after "0 5 3" "0 8 0"
	check "multiprocessing by spawn: children hit what their parent stored, and all is counted." multiprocess "$SO13" spawn before "0 5 3" "0 8 0"
	check "multiprocessing by forkserver: so it is." multiprocess "$SO13" forkserver before "0 5 3" "0 8 0"
	pooled() { three_runs python3 tests/hosts/multi.py "$SO13" fork pool || { cat "$tmp/difference" && return 1; }; }
	check "A pool of workers gets the same results." pooled
	eval "$(scripts/nvrtc-env 2>/dev/null)"
	if [ -n "${NVRTC_LIB:-}" ]; then
		# where ld.so.cache does not lead to the builtins, nothing would compile
		LD_LIBRARY_PATH=$RUN_PATH check "With a real NVRTC, multiprocessing by fork: so it is." multiprocess "$NVRTC_LIB/$NVRTC_SONAME" fork before "2 3 3" "2 6 0"
	else
		skip "With a real NVRTC, multiprocessing by fork: so it is." "no NVRTC here"
	fi
fi
plan
